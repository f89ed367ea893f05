#!/bin/sh
# Sets what read_feed.py needs; the key is in a file that only Splunk's user can read.
export BREACH_MONITOR_URL=https://EXAMPLE.execute-api.eu-central-1.amazonaws.com/api/v1
export BREACH_MONITOR_KEY_FILE="$SPLUNK_HOME/etc/apps/breach_monitor/local/key"
export BREACH_MONITOR_CURSOR_FILE="$SPLUNK_HOME/var/lib/breach_monitor.cursor"
exec "$SPLUNK_HOME/bin/splunk" cmd python3 "$SPLUNK_HOME/etc/apps/breach_monitor/bin/read_feed.py"
