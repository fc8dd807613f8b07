#!/bin/sh
# One person, SIM cards of two carriers in two terminals, while 'contactmesh up' runs: one phonebook over both.
set -eu
code() { contactmesh operator user code lin --json | sed 's/.*"code": *"\([^"]*\)".*/\1/'; }
# A terminal that is in already is taken as it is.
join() { contactmesh terminal contacts --as "$1" >/dev/null 2>&1 || contactmesh terminal enrol "$(code)" --as "$1" --region CN; }
contactmesh operator user add lin --name 林晓雨
join phone
join tablet
printf 'BEGIN:VCARD\nVERSION:4.0\nFN:张伟\nTEL:13800138000\nEND:VCARD\n' | contactmesh terminal import - --as phone
contactmesh terminal sim add cn-mobile 89860012345678901238 --yes --as phone
contactmesh terminal sim add cn-unicom 89860198765432109875 --yes --as tablet
contactmesh terminal sim consent cn-unicom on --as tablet
contactmesh terminal sim store cn-mobile --as phone
contactmesh terminal sim update cn-unicom --from cn-mobile --as tablet
contactmesh terminal sim pending cn-unicom --diff --as tablet
contactmesh terminal sim accept cn-unicom --as tablet
contactmesh terminal contacts --as tablet
