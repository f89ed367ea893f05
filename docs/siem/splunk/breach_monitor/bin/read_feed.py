#!/usr/bin/env python3
"""Splunk scripted input: prints the new items of the feed, one JSON event a line, and keeps its place in a file.

The environment: BREACH_MONITOR_URL, such as https://…/api/v1, BREACH_MONITOR_KEY_FILE and BREACH_MONITOR_CURSOR_FILE.
"""
import json
import os
import sys
import urllib.parse
import urllib.request


def read_file(path):
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def main():
    url = os.environ["BREACH_MONITOR_URL"] + "/feed"
    cursor_file = os.environ["BREACH_MONITOR_CURSOR_FILE"]
    key = read_file(os.environ["BREACH_MONITOR_KEY_FILE"])
    has_more = True
    while has_more:
        query = {"limit": "1000", "format": "ocsf"}
        after = read_file(cursor_file)
        if after:
            query["after"] = after
        request = urllib.request.Request(
            url + "?" + urllib.parse.urlencode(query), headers={"Authorization": "Bearer " + key}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            page = json.load(reply)
        for item in page["items"]:
            print(json.dumps(item, separators=(",", ":")))
        sys.stdout.flush()
        # After the events: an input that dies in between sends them again, and misses none.
        with open(cursor_file + ".new", "w", encoding="ascii") as file:
            file.write(page["cursor"])
        os.replace(cursor_file + ".new", cursor_file)
        has_more = page["hasMore"]


main()
