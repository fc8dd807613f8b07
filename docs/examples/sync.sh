#!/bin/sh
# One person with two terminals, while 'contactmesh up' runs: one address book on both, and the way back.
set -eu
code() { contactmesh operator user code li-wei --json | sed 's/.*"code": *"\([^"]*\)".*/\1/'; }
# A terminal that is in already is taken as it is.
join() { contactmesh terminal contacts --as "$1" >/dev/null 2>&1 || contactmesh terminal enrol "$(code)" --as "$1" --region CN; }
contactmesh operator user add li-wei --name 李伟
join li-wei
join li-wei-tablet
printf 'BEGIN:VCARD\nVERSION:4.0\nFN:张伟\nTEL:13800138000\nEND:VCARD\n' | contactmesh terminal import - --as li-wei
contactmesh terminal sync --as li-wei
contactmesh terminal sync --as li-wei-tablet
contactmesh terminal label 张伟 13800138000 老板 --as li-wei
contactmesh terminal note 张伟 喜欢喝茶 --replace --as li-wei-tablet
contactmesh terminal sync --as li-wei
contactmesh terminal sync --as li-wei-tablet
contactmesh terminal history 张伟 --as li-wei-tablet
contactmesh terminal delete 张伟 --yes --as li-wei-tablet
contactmesh terminal restore --deleted 张伟 --as li-wei-tablet
contactmesh terminal contacts 张伟 --as li-wei-tablet
