"""Tells a directory of Breach Monitor when people of Microsoft Entra ID last changed their passwords.

Entra's provisioning cannot map `lastPasswordChangeDateTime`. This script reads it from Microsoft Graph, and
sets `passwordChangedAt` of the users whom the directory knows. docs/directory.md of Breach Monitor says how to
run it each day, in Azure Automation or elsewhere. It needs Python 3.10 or newer, and nothing else.

Settings are variables of the Automation account, or of the environment:

  SCIM_URL, SCIM_TOKEN   of the directory, as Breach Monitor shows them (store the token encrypted)
  TENANT_ID, CLIENT_ID, CLIENT_SECRET   of an app, where no managed identity is
  STATE                  what the script remembers; outside of Azure Automation it is in STATE_FILE

It remembers up to which password change all were pushed. So a run that ends half-way goes on where it was, and
a day costs two requests for each person who changed the password. Once a week it looks at everybody, since
some came into the directory later than they changed their passwords.
"""

import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

try:
    import automationassets  # Only in Azure Automation
except ImportError:
    automationassets = None

GRAPH = os.environ.get("GRAPH_URL", "https://graph.microsoft.com")
LOGIN = os.environ.get("LOGIN_URL", "https://login.microsoftonline.com")
PASSWORD_CHANGED_AT = "urn:breach-monitor:scim:2.0:User:passwordChangedAt"
# The directory takes 1,500 requests a minute.
AT_ONCE = 8
# People who are pushed before the script remembers how far it is.
CHUNK = 400
TRIES = 6
# Changes may reach Graph later than their time says.
OVERLAP = timedelta(days=2)
FULL_EVERY = timedelta(days=7)
LONGEST_WAIT = float(os.environ.get("LONGEST_WAIT_SECONDS", "300"))


class Refused(Exception):
    """No request would work: the token, the app or the plan is refused."""


def setting(name):
    if automationassets is not None:
        try:
            return automationassets.get_automation_variable(name)
        except automationassets.AutomationAssetNotFound:
            pass
    return os.environ.get(name, "")


def read_state():
    if automationassets is not None:
        text = setting("STATE")
    else:
        path = os.environ.get("STATE_FILE", "push_password_changes.json")
        text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    try:
        state = json.loads(text or "{}")
    except ValueError:
        state = {}
    # Another directory knows nothing yet.
    return state if state.get("url") == setting("SCIM_URL") else {"url": setting("SCIM_URL")}


def write_state(state):
    text = json.dumps(state)
    if automationassets is not None:
        automationassets.set_automation_variable("STATE", text)
        return
    path = os.environ.get("STATE_FILE", "push_password_changes.json")
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Elsewhere the token would be told to others."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


def request(method, url, headers, body=None):
    """Status and JSON of the answer. Asks again at 429, 5xx and without an answer, as late as is asked for."""
    for tries in range(1, TRIES + 1):
        wait = min(2.0**tries, LONGEST_WAIT)
        try:
            data = None if body is None else body.encode()
            sent = urllib.request.Request(url, data=data, headers=headers, method=method)
            with opener.open(sent, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
            asked = error.headers.get("Retry-After", "")
            if status == 429 or status >= 500:
                wait = min(float(asked) if asked.isdigit() else wait, LONGEST_WAIT)
            else:
                try:
                    return status, json.loads(text or b"{}")
                except ValueError:
                    return status, {}
        except (OSError, ValueError) as error:
            status = f"no answer ({type(error).__name__})"
        if tries < TRIES:
            time.sleep(wait)
    return status, {}


def graph_token():
    """Of the managed identity, else of the app."""
    endpoint, header = os.environ.get("IDENTITY_ENDPOINT"), os.environ.get("IDENTITY_HEADER")
    if endpoint and header:
        url = endpoint + "?" + urllib.parse.urlencode({"resource": GRAPH, "api-version": "2019-08-01"})
        status, answer = request("GET", url, {"X-IDENTITY-HEADER": header, "Metadata": "True"})
    else:
        form = {
            "client_id": setting("CLIENT_ID"),
            "client_secret": setting("CLIENT_SECRET"),
            "scope": f"{GRAPH}/.default",
            "grant_type": "client_credentials",
        }
        url = f"{LOGIN}/{setting('TENANT_ID')}/oauth2/v2.0/token"
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, answer = request("POST", url, headers, urllib.parse.urlencode(form))
    if status != 200 or "access_token" not in answer:
        raise Refused(f"No token for Microsoft Graph: {status} {answer.get('error', '')}")
    return answer["access_token"]


def instant(text):
    return datetime.fromisoformat(re.sub(r"\.\d+", "", text).replace("Z", "+00:00"))


def list_changes():
    """Name and time of each person's last change of the password, oldest first."""
    headers = {"Authorization": f"Bearer {graph_token()}", "Accept": "application/json"}
    query = {"$select": "userPrincipalName,lastPasswordChangeDateTime", "$top": "999"}
    url = f"{GRAPH}/v1.0/users?" + urllib.parse.urlencode(query)
    changes = []
    while url:
        status, page = request("GET", url, headers)
        if status != 200:
            code = page.get("error", {}).get("code", "")
            raise Refused(f"Microsoft Graph does not list users: {status} {code}")
        for user in page.get("value", []):
            if user.get("lastPasswordChangeDateTime"):
                changes.append((user["lastPasswordChangeDateTime"], user["userPrincipalName"]))
        url = page.get("@odata.nextLink")
        if url and not url.startswith(f"{GRAPH}/"):
            raise Refused("Microsoft Graph names a next page elsewhere")
    return sorted(changes, key=lambda change: instant(change[0]))


def scim(method, path, body=None):
    headers = {
        "Authorization": f"Bearer {setting('SCIM_TOKEN').strip()}",
        "Content-Type": "application/scim+json",
    }
    url = setting("SCIM_URL").strip().rstrip("/") + path
    status, answer = request(method, url, headers, body and json.dumps(body))
    if status in (401, 402, 403):
        raise Refused(f"The directory refuses all requests: {status} {answer.get('detail', '')}")
    return status, answer


def push(change):
    """Gives "pushed", "same", "unknown" or what failed."""
    changed_at, name = change
    query = {"filter": f"userName eq {json.dumps(name, ensure_ascii=False)}", "attributes": PASSWORD_CHANGED_AT}
    status, found = scim("GET", "/Users?" + urllib.parse.urlencode(query))
    if status != 200:
        return f"GET {status} {found.get('detail', '')}"
    for user in found.get("Resources", []):
        extension, _, attribute = PASSWORD_CHANGED_AT.rpartition(":")
        known = user.get(extension, {}).get(attribute)
        if known and instant(known) == instant(changed_at):
            return "same"
        value = instant(changed_at).isoformat().replace("+00:00", "Z")
        operation = {"op": "replace", "path": PASSWORD_CHANGED_AT, "value": value}
        schemas = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"]
        status, answer = scim(
            "PATCH", f"/Users/{user['id']}", {"schemas": schemas, "Operations": [operation]}
        )
        # Whom somebody deleted in between is unknown too.
        if status != 404:
            return "pushed" if status in (200, 204) else f"PATCH {status} {answer.get('detail', '')}"
    return "unknown"


def main():
    if not setting("SCIM_URL") or not setting("SCIM_TOKEN"):
        raise Refused("Set SCIM_URL and SCIM_TOKEN first")
    state = read_state()
    now = datetime.now(timezone.utc)
    if "fullAt" not in state or now - instant(state["fullAt"]) >= FULL_EVERY:
        state = {"url": state["url"], "fullAt": now.isoformat()}
    since = state.get("until")
    start = instant(since) - (OVERLAP if state.get("isComplete") else timedelta(0)) if since else None
    changes = [each for each in list_changes() if start is None or instant(each[0]) >= start]
    state["isComplete"] = False
    counts = {"looked at": len(changes), "pushed": 0, "same": 0, "unknown": 0}
    failures = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for index in range(0, len(changes), CHUNK):
            chunk = changes[index : index + CHUNK]
            try:
                results = list(pool.map(push, chunk))
            except Refused:
                pool.shutdown(cancel_futures=True)
                raise
            for result in results:
                if result in counts:
                    counts[result] += 1
                else:
                    failures.append(result)
            # What failed is looked at by the next run again, and so is what is later.
            if not failures:
                state["until"] = chunk[-1][0]
                write_state(state)
    if not failures:
        state["isComplete"] = True
        write_state(state)
    print(json.dumps(counts))
    if failures:
        raise Refused(f"{len(failures)} people are tried again by the next run: {failures[0]}")


if __name__ == "__main__":
    # An exception is what makes a job of Azure Automation fail.
    main()
