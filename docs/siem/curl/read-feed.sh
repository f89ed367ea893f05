#!/bin/sh
# Prints what is new in the feed, one page of JSON a line, and keeps its place in a file.
# Usage: BREACH_MONITOR_URL=https://…/api/v1 BREACH_MONITOR_KEY=bms_… read-feed.sh CURSOR_FILE [native|ocsf]
set -eu
file=$1
format=${2:-native}
while :; do
  after=$(cat "$file" 2>/dev/null || true)
  page=$(printf 'header = "Authorization: Bearer %s"\n' "$BREACH_MONITOR_KEY" |
    curl --silent --show-error --fail-with-body --retry 5 --config - \
      "$BREACH_MONITOR_URL/feed?limit=1000&format=$format${after:+&after=$after}") || {
    printf '%s\n' "$page" >&2
    exit 1
  }
  printf '%s\n' "$page"
  # "cursor" and "hasMore" are the last fields of a page.
  place=$(printf '%s' "$page" | sed 's/.*"cursor":"\([A-Za-z0-9_-]*\)","hasMore":\(true\|false\)}$/\1 \2/')
  # After the page is printed: a reader that dies in between gets the page again, and misses none.
  printf '%s' "${place% *}" >"$file.new"
  mv "$file.new" "$file"
  [ "${place#* }" = true ] || exit 0
done
