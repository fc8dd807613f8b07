#!/bin/sh
# Two people on one machine, while 'contactmesh up' runs: one changes number, the other's phonebook follows.
set -eu
code() { contactmesh operator user code "$1" --json | sed 's/.*"code": *"\([^"]*\)".*/\1/'; }
# A terminal that is in already, and a group that is there, are taken as they are.
join() { contactmesh terminal contacts --as "$1" >/dev/null 2>&1 || contactmesh terminal enrol "$(code "$1")" --as "$@"; }
contactmesh operator user add li-wei --name 李伟
contactmesh operator user add ann --name "Ann Smith"
join li-wei --region CN
join ann
contactmesh terminal group show 家人 --as li-wei >/dev/null 2>&1 ||
  contactmesh terminal group create 家人 --member ann --as li-wei
contactmesh terminal publish --name 李伟 --number 13800138000 --as li-wei
contactmesh terminal publish --number 13900139000 --as li-wei
contactmesh terminal pull --as ann
contactmesh terminal contacts 李 --as ann
