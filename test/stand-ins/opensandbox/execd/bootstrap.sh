#!/bin/sh
# What each sandbox runs first: execd beside the sandbox's own entrypoint, which comes as arguments.
/opt/opensandbox/execd >/tmp/execd.log 2>&1 &
exec "$@"
