/** Microsoft's side of the script of docs/directory that reads Graph: tokens, users page by page, and faults. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { request } from "undici";

export type GraphUser = { userPrincipalName: string; lastPasswordChangeDateTime: string | null };
type Fault = (asked: IncomingMessage) => { status: number; headers?: Record<string, string> } | undefined;

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Microsoft Graph, the endpoint for tokens of apps, and that of a managed identity, all at one url. */
export const startGraph = async () => {
  const graph = {
    users: [] as GraphUser[],
    pageSize: 999,
    pages: 0,
    fault: (() => undefined) as Fault,
    url: "",
  };
  const server = createServer(async (asked, reply) => {
    const answer = (status: number, body: object, headers: Record<string, string> = {}): void => {
      reply.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    };
    const form = new URLSearchParams(await text(asked));
    const { pathname, searchParams } = new URL(asked.url ?? "", graph.url);
    const fault = graph.fault(asked);
    if (fault !== undefined) return answer(fault.status, { error: { code: "Fault" } }, fault.headers);
    if (pathname === "/tenant/oauth2/v2.0/token") {
      const isRight =
        form.get("client_secret") === "secret" &&
        form.get("grant_type") === "client_credentials" &&
        form.get("scope") === `${graph.url}/.default`;
      return isRight ? answer(200, { access_token: "graph" }) : answer(401, { error: "invalid_client" });
    }
    if (pathname === "/identity") {
      const isRight =
        asked.headers["x-identity-header"] === "identity" && searchParams.get("resource") === graph.url;
      return isRight ? answer(200, { access_token: "graph" }) : answer(400, { error: "bad" });
    }
    if (pathname !== "/v1.0/users") return answer(404, {});
    if (asked.headers.authorization !== "Bearer graph")
      return answer(401, { error: { code: "InvalidAuthenticationToken" } });
    graph.pages++;
    const names = (searchParams.get("$select") ?? "").split(",");
    const from = Number(searchParams.get("$skiptoken") ?? 0);
    const to = from + Math.min(graph.pageSize, Number(searchParams.get("$top") ?? 100));
    const value = graph.users
      .slice(from, to)
      .map((user) => Object.fromEntries(Object.entries(user).filter(([name]) => names.includes(name))));
    searchParams.set("$skiptoken", String(to));
    return answer(200, {
      "@odata.context": `${graph.url}/v1.0/$metadata#users`,
      ...(to < graph.users.length && { "@odata.nextLink": `${graph.url}${pathname}?${searchParams}` }),
      value,
    });
  });
  graph.url = await listen(server);
  return graph;
};

/** Passes requests on to the service, unless `fault` answers or, by status 0, breaks the connection. */
export const startProxy = async (url: string) => {
  const { origin, pathname } = new URL(url);
  const proxy = { url: "", methods: [] as string[], fault: (() => undefined) as Fault };
  const server = createServer(async (asked, reply) => {
    const body = await text(asked);
    const fault = proxy.fault(asked);
    if (fault?.status === 0) return asked.socket.destroy();
    if (fault !== undefined) return reply.writeHead(fault.status, fault.headers).end("<html>");
    proxy.methods.push(asked.method ?? "");
    const { host, connection, "content-length": _, ...headers } = asked.headers;
    const answer = await request(`${origin}${asked.url}`, {
      method: asked.method as "GET",
      headers,
      ...(body !== "" && { body }),
    });
    const replied = await answer.body.text();
    reply.writeHead(answer.statusCode, { "content-type": "application/scim+json" }).end(replied);
  });
  proxy.url = `${await listen(server)}${pathname}`;
  return proxy;
};
