/** The directory of the demo organization: a script, as far as the service can tell, that knows ten of its people. */

const schemas = {
  user: "urn:ietf:params:scim:schemas:core:2.0:User",
  enterprise: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  own: "urn:breach-monitor:scim:2.0:User",
};

type Account = { email: string; displayName: string; title: string; department: string };

const accounts: readonly Account[] = [
  ["grace", "Grace Hopper", "Head of finance", "Finance"],
  ["alan", "Alan Turing", "Administrator", "Engineering"],
  ["barbara", "Barbara Liskov", "Engineer", "Engineering"],
  ["claude", "Claude Shannon", "Engineer", "Engineering"],
  ["donald", "Donald Knuth", "Author", "Engineering"],
  ["edsger", "Edsger Dijkstra", "Engineer", "Engineering"],
  ["frances", "Frances Allen", "Accountant", "Finance"],
  ["katherine", "Katherine Johnson", "Accountant", "Finance"],
  ["margaret", "Margaret Hamilton", "Engineer", "Engineering"],
  ["radia", "Radia Perlman", "Engineer", "Engineering"],
].map(([name, displayName = "", title = "", department = ""]) => ({
  email: `${name}@demo.example`,
  displayName,
  title,
  department,
}));

const privileged = "alan@demo.example";
const managerOfFinance = "grace@demo.example";
const leavers = ["donald@demo.example", "edsger@demo.example"];

const dayMilliseconds = 86_400_000;

type Settings = { port: number; signal: AbortSignal; cookie: string };

const send = async (
  method: string,
  url: string,
  headers: Record<string, string>,
  { signal, body }: { signal: AbortSignal; body?: object },
): Promise<Record<string, unknown>> => {
  const reply = await fetch(url, {
    method,
    signal,
    headers: { ...headers, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${method} ${url}: ${reply.status}`);
  return reply.status === 204 ? {} : ((await reply.json()) as Record<string, unknown>);
};

/** Connects the directory as an admin would. `cookie`: of a session of one, which ends with that. */
export const connectDemoDirectory = async ({ port, signal, cookie }: Settings): Promise<string> => {
  const origin = `http://127.0.0.1:${port}`;
  const headers = { cookie, origin };
  const { token } = await send("POST", `${origin}/api/dashboard/directories`, headers, {
    signal,
    body: { name: "Demo directory" },
  });
  await send("DELETE", `${origin}/api/dashboard/session`, headers, { signal });
  return token as string;
};

/** Pushes everybody, and then that two have left. Resolves once the service has disabled their addresses. */
export const pushDemoPeople = async (
  token: string,
  { port, signal, areDisabled }: Omit<Settings, "cookie"> & { areDisabled: (many: number) => Promise<void> },
): Promise<void> => {
  const url = `http://127.0.0.1:${port}/api/scim/v2`;
  const headers = { authorization: `Bearer ${token}` };
  const ids = new Map<string, string>();
  const add = async ({ email, displayName, title, department }: Account, index: number): Promise<void> => {
    const manager = department === "Finance" ? ids.get(managerOfFinance) : undefined;
    const changedDaysAgo = 10 * (index + 1);
    const body = {
      schemas: Object.values(schemas),
      userName: email,
      displayName,
      title,
      active: true,
      [schemas.enterprise]: { department, ...(manager !== undefined && { manager: { value: manager } }) },
      [schemas.own]: {
        passwordChangedAt: new Date(Date.now() - changedDaysAgo * dayMilliseconds).toISOString(),
        privileged: email === privileged,
      },
    };
    const { id } = await send("POST", `${url}/Users`, headers, { signal, body });
    ids.set(email, id as string);
  };
  // Others name her as their manager.
  await Promise.all(accounts.slice(0, 1).map(add));
  await Promise.all(accounts.slice(1).map(add));
  for (const email of leavers) {
    const body = { Operations: [{ op: "replace", path: "active", value: false }] };
    await send("PATCH", `${url}/Users/${ids.get(email)}`, headers, { signal, body });
  }
  await areDisabled(leavers.length);
};
