/**
 * Pushes the people of a Google Workspace to a directory of Breach Monitor each hour. docs/directory.md of
 * Breach Monitor says how to set it up.
 *
 * It keeps no list of people. They fall into 1,024 buckets by their ids, and the script remembers a
 * fingerprint of each bucket that was pushed. People of a bucket with another fingerprint are pushed, and what
 * the directory has already changes nothing there. So a run that ends half-way repeats at most what it had
 * begun. Whom a list lacks is never taken for gone: only who is suspended, archived, deleted, or in another
 * organizational unit than those of ORG_UNITS.
 */

const BUCKETS = 1024;
/** Characters of a fingerprint. Those of all buckets fit into one property, which has 9 kB at most. */
const FINGERPRINT = 8;
/** Another form of what is pushed gets another number here, and is pushed anew. */
const FORM = 1;
/** Apps Script ends a run after six minutes. */
const RUN_MILLISECONDS = 4.5 * 60 * 1000;
/** The directory takes 1,500 requests a minute. */
const AT_ONCE = 10;
/** Google reports changes of passwords late. */
const REPORT_MILLISECONDS = 6 * 60 * 60 * 1000;
const TRIES = 5;

const CORE = "urn:ietf:params:scim:schemas:core:2.0:User";
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const OWN = "urn:breach-monitor:scim:2.0:User";
const FIELDS =
  "nextPageToken,users(id,primaryEmail,aliases,nonEditableAliases,name,suspended,archived,orgUnitPath," +
  "isAdmin,isDelegatedAdmin,organizations,languages,relations,externalIds)";

/** Run this once by hand: it asks for your consent, tries the token, and has the rest run each hour. */
function install() {
  const run = beginRun();
  const [{ status, detail }] = answersOf([{ method: "get", path: "/Users?count=0" }], run);
  if (status !== 200) throw new Error(`SCIM_URL gives ${status} ${detail}`);
  for (const trigger of ScriptApp.getProjectTriggers()) ScriptApp.deleteTrigger(trigger);
  ScriptApp.newTrigger("synchronize").timeBased().everyHours(1).create();
  synchronize();
}

/** Run this by hand to push everybody anew, such as after a time without a plan. */
function startOver() {
  const properties = PropertiesService.getScriptProperties();
  properties.deleteProperty("FINGERPRINTS");
  properties.deleteProperty("PASSWORDS_UNTIL");
  synchronize();
}

/** What is left of a run that had no more time. */
function goOn() {
  synchronize();
}

function synchronize() {
  const lock = LockService.getScriptLock();
  if (!lock.tryLock(1000)) return;
  try {
    const run = beginRun();
    const buckets = bucketsOf(listPeople(run), run.orgUnits);
    const isDone = pushBuckets(buckets, run) && pushPasswordDates(run);
    console.log(JSON.stringify(run.counts));
    goOnSoon(isDone);
    if (run.failures.length > 0)
      throw new Error(
        `${run.failures.length} requests failed and are tried again: ${[...new Set(run.failures)].slice(0, 3).join("; ")}`,
      );
  } finally {
    lock.releaseLock();
  }
}

function beginRun() {
  const properties = PropertiesService.getScriptProperties();
  const url = (properties.getProperty("SCIM_URL") || "").trim().replace(/\/+$/, "");
  const token = (properties.getProperty("SCIM_TOKEN") || "").trim();
  if (!url || !token) throw new Error("Set the script properties SCIM_URL and SCIM_TOKEN first");
  const orgUnits = (properties.getProperty("ORG_UNITS") || "/")
    .split(",")
    .map((path) => path.trim().replace(/\/+$/, ""));
  return {
    url,
    token,
    orgUnits,
    until: Date.now() + RUN_MILLISECONDS,
    counts: { people: 0, created: 0, changed: 0, deleted: 0 },
    failures: [],
  };
}

/** Apps Script has no second run of a trigger: a trigger of its own takes up what is left, a minute later. */
function goOnSoon(isDone) {
  for (const trigger of ScriptApp.getProjectTriggers())
    if (trigger.getHandlerFunction() === "goOn") ScriptApp.deleteTrigger(trigger);
  if (!isDone) ScriptApp.newTrigger("goOn").timeBased().after(60 * 1000).create();
}

/** Everybody, also who was deleted in the last 20 days. A page that fails ends the run. */
function listPeople(run) {
  const people = [];
  for (const showDeleted of ["false", "true"]) {
    let pageToken;
    do {
      const options = { customer: "my_customer", maxResults: 500, showDeleted, fields: FIELDS, pageToken };
      const page = patiently(() => AdminDirectory.Users.list(options));
      for (const user of page.users || []) people.push({ user, isDeleted: showDeleted === "true" });
      pageToken = page.nextPageToken;
    } while (pageToken);
  }
  run.counts.people = people.length;
  return people;
}

/** Google's services refuse some calls at busy times. */
function patiently(call) {
  for (let tries = 1; ; tries++) {
    try {
      return call();
    } catch (error) {
      if (tries === TRIES) throw error;
      Utilities.sleep(1000 * 2 ** tries);
    }
  }
}

/** The people of each bucket as the directory shall have them, in an order that is always the same. */
function bucketsOf(people, orgUnits) {
  const buckets = Array.from({ length: BUCKETS }, () => []);
  for (const { user, isDeleted } of people)
    buckets[Number(user.id.slice(-6)) % BUCKETS].push(personOf(user, isDeleted, orgUnits));
  for (const bucket of buckets) bucket.sort((one, other) => (one.externalId < other.externalId ? -1 : 1));
  return buckets;
}

/** The addresses are the primary one and its aliases: private addresses of the profile stay where they are. */
function personOf(user, isDeleted, orgUnits) {
  const primaryOf = (list) => (list || []).find((each) => each.primary) || (list || [])[0] || {};
  const ofType = (list, type) => ((list || []).find((each) => each.type === type) || {}).value;
  const isInScope = orgUnits.some((path) => `${user.orgUnitPath || "/"}/`.startsWith(`${path}/`));
  const work = primaryOf(user.organizations);
  const aliases = [...(user.aliases || []), ...(user.nonEditableAliases || [])].sort();
  const name = user.name || {};
  return {
    isDeleted,
    externalId: user.id,
    userName: user.primaryEmail,
    active: !isDeleted && !user.suspended && !user.archived && isInScope,
    displayName: name.fullName,
    name: { givenName: name.givenName, familyName: name.familyName, formatted: name.fullName },
    emails: [
      { value: user.primaryEmail, type: "work", primary: true },
      ...aliases.map((value) => ({ value, type: "other" })),
    ],
    title: work.title,
    preferredLanguage: ((user.languages || []).find((each) => each.preference !== "not_preferred") || {})
      .languageCode,
    department: work.department,
    employeeNumber: ofType(user.externalIds, "organization"),
    manager: ofType(user.relations, "manager"),
    privileged: Boolean(user.isAdmin || user.isDelegatedAdmin),
  };
}

/** Pushes whom another fingerprint says to push. Returns whether the time was enough for all. */
function pushBuckets(buckets, run) {
  const properties = PropertiesService.getScriptProperties();
  const target = fingerprintOf(`${FORM} ${run.url} ${run.token}`);
  const stored = properties.getProperty("FINGERPRINTS") || "";
  const isSameTarget = stored.startsWith(target);
  const known = Array.from({ length: BUCKETS }, (_, index) =>
    isSameTarget ? stored.substr(FINGERPRINT * (index + 1), FINGERPRINT) : " ".repeat(FINGERPRINT),
  );
  let people = [];
  let numbers = [];
  const flush = () => {
    const failed = push(people, run);
    for (const number of numbers)
      if (!buckets[number].some((person) => failed.has(person)))
        known[number] = fingerprintOf(JSON.stringify(buckets[number]));
    properties.setProperty("FINGERPRINTS", target + known.join(""));
    people = [];
    numbers = [];
  };
  for (let number = 0; number < BUCKETS; number++) {
    if (known[number] === fingerprintOf(JSON.stringify(buckets[number]))) continue;
    if (Date.now() > run.until) return false;
    people.push(...buckets[number]);
    numbers.push(number);
    if (people.length >= AT_ONCE) flush();
  }
  if (numbers.length > 0) flush();
  return Date.now() <= run.until;
}

function fingerprintOf(text) {
  const digest = Utilities.computeDigest(Utilities.DigestAlgorithm.SHA_256, text, Utilities.Charset.UTF_8);
  return Utilities.base64Encode(digest).slice(0, FINGERPRINT);
}

/** Makes the directory have these people. Returns those for whom it did not work. */
function push(people, run) {
  const failed = new Set();
  const fail = (person, answer, request) => {
    failed.add(person);
    const isLate = Date.now() > run.until && [0, 429].includes(answer.status);
    if (!isLate) run.failures.push(`${request.method.toUpperCase()} ${answer.status} ${answer.detail}`);
  };
  /** Sends a request for each person, and tells `take` the answers of those that the service gave. */
  const ask = (some, requestOf, take) => {
    const requests = some.map(requestOf);
    answersOf(requests, run).forEach((answer, index) => take(some[index], answer, requests[index]));
  };

  const ids = new Map();
  const lookUp = (some, attribute) =>
    ask(
      some,
      (person) => ({
        method: "get",
        path:
          "/Users?attributes=userName&filter=" +
          encodeURIComponent(`${attribute} eq ${JSON.stringify(person[attribute])}`),
      }),
      (person, answer, request) => {
        if (answer.status !== 200) return fail(person, answer, request);
        const [user] = answer.body.Resources || [];
        if (user) ids.set(person, user.id);
      },
    );
  const change = (some) =>
    ask(
      some,
      (person) => ({ method: "patch", path: `/Users/${ids.get(person)}`, body: patchOf(person) }),
      (person, answer, request) => {
        if (answer.status >= 300) return fail(person, answer, request);
        run.counts.changed++;
      },
    );

  lookUp(people, "externalId");
  const found = people.filter((person) => ids.has(person));
  ask(
    found.filter(({ isDeleted }) => isDeleted),
    (person) => ({ method: "delete", path: `/Users/${ids.get(person)}` }),
    (person, answer, request) => {
      if (answer.status >= 300 && answer.status !== 404) return fail(person, answer, request);
      run.counts.deleted++;
    },
  );
  change(found.filter(({ isDeleted }) => !isDeleted));
  const taken = [];
  ask(
    people.filter((person) => person.active && !ids.has(person) && !failed.has(person)),
    (person) => ({ method: "post", path: "/Users", body: userOf(person) }),
    (person, answer, request) => {
      if (answer.status === 409) return taken.push(person);
      if (answer.status !== 201) return fail(person, answer, request);
      run.counts.created++;
    },
  );
  // The name is of somebody whom another program pushed, or of a former account.
  lookUp(taken, "userName");
  change(taken.filter((person) => ids.has(person)));
  for (const person of taken)
    if (!ids.has(person) && !failed.has(person)) fail(person, { status: 409, detail: "the name is taken" }, { method: "post" });
  return failed;
}

/**
 * Pushes when people changed their passwords, by Google's log of the last 180 days. Returns whether the time was
 * enough. Does nothing where the service AdminReports is not enabled.
 */
function pushPasswordDates(run) {
  if (typeof AdminReports === "undefined") return true;
  const properties = PropertiesService.getScriptProperties();
  const until = properties.getProperty("PASSWORDS_UNTIL");
  const changes = listPasswordChanges(until);
  for (let from = 0; from < changes.length; from += AT_ONCE) {
    if (Date.now() > run.until) return false;
    const some = changes.slice(from, from + AT_ONCE);
    if (!pushDates(some, run)) return Date.now() <= run.until;
    properties.setProperty("PASSWORDS_UNTIL", some[some.length - 1].time);
  }
  return Date.now() <= run.until;
}

/** The last change of each person, the oldest first. */
function listPasswordChanges(until) {
  const last = new Map();
  const startTime = until && new Date(Date.parse(until) - REPORT_MILLISECONDS).toISOString();
  let pageToken;
  do {
    const options = { eventName: "password_edit", maxResults: 1000, ...(startTime && { startTime }) };
    const page = patiently(() =>
      AdminReports.Activities.list("all", "user_accounts", { ...options, ...(pageToken && { pageToken }) }),
    );
    for (const { id, actor } of page.items || []) {
      const time = new Date(id.time).toISOString();
      if (actor && actor.profileId && !(last.get(actor.profileId) >= time)) last.set(actor.profileId, time);
    }
    pageToken = page.nextPageToken;
  } while (pageToken);
  return [...last]
    .map(([externalId, time]) => ({ externalId, time }))
    .sort((one, other) => (one.time < other.time ? -1 : 1));
}

/** Returns whether all went well. Who is unknown in the directory, or whose date is later there, stays. */
function pushDates(changes, run) {
  const lookUps = changes.map(({ externalId }) => ({
    method: "get",
    path:
      `/Users?attributes=${encodeURIComponent(`${OWN}:passwordChangedAt`)}&filter=` +
      encodeURIComponent(`externalId eq ${JSON.stringify(externalId)}`),
  }));
  const found = answersOf(lookUps, run);
  const patches = changes.flatMap(({ time }, index) =>
    ((found[index].body || {}).Resources || [])
      .filter((user) => !(Date.parse((user[OWN] || {}).passwordChangedAt) >= Date.parse(time)))
      .map(({ id }) => ({
        method: "patch",
        path: `/Users/${id}`,
        body: patchBody([{ op: "replace", path: `${OWN}:passwordChangedAt`, value: time }]),
      })),
  );
  const all = [...found, ...answersOf(patches, run)];
  const failed = all.filter(({ status }) => ![200, 204, 404].includes(status));
  if (Date.now() <= run.until)
    run.failures.push(...failed.map(({ status, detail }) => `A date of a password: ${status} ${detail}`));
  run.counts.dates = (run.counts.dates || 0) + patches.length;
  return failed.length === 0;
}

function userOf(person) {
  const { externalId, userName, active, displayName, name, emails, title, preferredLanguage } = person;
  const { department, employeeNumber, manager, privileged } = person;
  const schemas = [CORE, ENTERPRISE, OWN];
  const user = { schemas, externalId, userName, active, displayName, name, emails, title, preferredLanguage };
  const work = { department, employeeNumber, ...(manager && { manager: { value: manager } }) };
  // What is undefined has no place in JSON.
  return { ...user, [ENTERPRISE]: work, [OWN]: { privileged } };
}

/** Sets what the person has, and takes away the rest, but nothing that others push for the same person. */
function patchOf(person) {
  const { schemas, ...attributes } = userOf(person);
  const gone = [
    ["displayName", person.displayName],
    ["title", person.title],
    ["preferredLanguage", person.preferredLanguage],
    [`${ENTERPRISE}:department`, person.department],
    [`${ENTERPRISE}:employeeNumber`, person.employeeNumber],
    [`${ENTERPRISE}:manager`, person.manager],
  ].filter(([, value]) => !value);
  return patchBody([{ op: "replace", value: attributes }, ...gone.map(([path]) => ({ op: "remove", path }))]);
}

function patchBody(operations) {
  return { schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], Operations: operations };
}

/**
 * Answers in the order of the requests: `{ status, body, detail }`. Asks again at 429, after the time that the
 * service says, and at 5xx or no answer, until the time is up. Status 0 is no answer.
 */
function answersOf(requests, run) {
  const answers = requests.map(() => ({ status: 0, detail: "no answer" }));
  let open = requests.map((_, index) => index);
  for (let tries = 1; open.length > 0; tries++) {
    let wait = 1000 * 2 ** tries;
    for (let from = 0; from < open.length && Date.now() <= run.until; from += AT_ONCE) {
      const some = open.slice(from, from + AT_ONCE);
      for (const [at, response] of fetchAll(some.map((index) => requests[index]), run).entries()) {
        const answer = answerOf(response);
        answers[some[at]] = answer;
        wait = Math.max(wait, answer.retryAfter || 0);
      }
    }
    open = open.filter((index) => [0, 429].includes(answers[index].status) || answers[index].status >= 500);
    if (tries === TRIES || Date.now() + wait > run.until) break;
    if (open.length > 0) Utilities.sleep(wait);
  }
  return answers;
}

function fetchAll(requests, run) {
  try {
    return UrlFetchApp.fetchAll(
      requests.map(({ method, path, body }) => ({
        url: run.url + path,
        method,
        headers: { Authorization: `Bearer ${run.token}` },
        contentType: "application/scim+json",
        ...(body && { payload: JSON.stringify(body) }),
        followRedirects: false,
        muteHttpExceptions: true,
      })),
    );
  } catch (error) {
    console.warn(`No answer: ${error}`);
    return requests.map(() => undefined);
  }
}

function answerOf(response) {
  if (!response) return { status: 0, detail: "no answer" };
  const status = response.getResponseCode();
  const headers = Object.entries(response.getHeaders());
  const [, retryAfter] = headers.find(([name]) => name.toLowerCase() === "retry-after") || [];
  let body = {};
  try {
    body = JSON.parse(response.getContentText() || "{}");
  } catch {
    // A proxy's page.
  }
  const detail = String(body.detail || "");
  // Nothing else would work either, and no later try.
  if ([401, 402, 403].includes(status)) throw new Error(`The directory refuses all requests: ${status} ${detail}`);
  return { status, body, detail, retryAfter: 1000 * Number(retryAfter) || 0 };
}
