#!/bin/sh
# Two people on one machine, while 'contactmesh up' runs: one changes number, the other's phonebook follows.
set -eu
code() { contactmesh operator user code "$1" --json | sed 's/.*"code": *"\([^"]*\)".*/\1/'; }
contactmesh operator user add li-wei --name 李伟
contactmesh operator user add ann --name "Ann Smith"
contactmesh terminal enrol "$(code li-wei)" --as li-wei --region CN
contactmesh terminal enrol "$(code ann)" --as ann
contactmesh terminal group create 家人 --member ann --as li-wei
contactmesh terminal publish --name 李伟 --number 13800138000 --as li-wei
contactmesh terminal publish --number 13900139000 --as li-wei
contactmesh terminal pull --as ann
contactmesh terminal contacts 李 --as ann
