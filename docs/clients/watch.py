"""Watches an address with a client that openapi-python-client has generated, scans, and prints what was found."""

import os
import time
import uuid

from breach_monitor_client import AuthenticatedClient
from breach_monitor_client.api.breaches import list_breaches
from breach_monitor_client.api.emails import add_email
from breach_monitor_client.api.scans import list_scans, start_scan
from breach_monitor_client.models import AddEmailBody, ListBreachesOrder

api = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["API_KEY"])
body = AddEmailBody(email=os.environ["EMAIL"], domain_id=int(os.environ["DOMAIN_ID"]))

added = add_email.sync(client=api, body=body, idempotency_key=str(uuid.uuid4()))
again = add_email.sync_detailed(client=api, body=body, idempotency_key=str(uuid.uuid4()))
print(again.status_code.value, again.parsed.error)

scan_id = start_scan.sync(client=api).scan_job_id
status = None
while status not in ("completed", "failed"):
    time.sleep(0.2)
    scans = list_scans.sync(client=api).scans
    status = next(scan.status.value for scan in scans if scan.id == scan_id)

found = list_breaches.sync(client=api, scan_id=scan_id, order=ListBreachesOrder.SEVERITY)
print(status, found.total)
for finding in found.breaches:
    print(finding.email, finding.breach.name)
