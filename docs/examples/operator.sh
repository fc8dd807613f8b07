#!/bin/sh
# An operator in ten lines: a system with two copies of a service, and a person who may join it.
set -eu
contactmesh up --quiet --scale group_service=2 &
trap 'kill $!; wait $!' EXIT
contactmesh status --wait 60
contactmesh operator user add li-wei --name 李伟
contactmesh operator user code li-wei
contactmesh operator user list
contactmesh operator parked list
