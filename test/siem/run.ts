/**
 * Validates items of the feed by the published schemas of OCSF. Runs the files of docs/siem by the programs
 * that read them: Splunk's AppInspect, Elasticsearch, and Microsoft's parser of KQL. Where items are read,
 * they are real ones of the feed. MITO_PATH names Elastic's program for CEL
 * (https://github.com/elastic/mito). With it, the program of Filebeat's input runs too. Needs npm, Python 3
 * with venv and pip, and a JDK of 17 or newer; it fetches packages into a folder of this run.
 */
import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fetchArtifacts, mavenRepository, readArtifacts } from "../../local/dynamodb/dynamodb-local.ts";
import { startService } from "../../local/harness/service.ts";
import { needJava, needPython } from "../needs.ts";

needPython();
const java = await needJava();

// biome-ignore lint/suspicious/noExplicitAny: what other systems define
type Json = Record<string, any>;

const project = join(import.meta.dirname, "../..");
const siem = join(project, "docs/siem");
const scratch = await mkdtemp(join(tmpdir(), "siem-"));
const service = await startService(["--memory"]);

const run = async (program: string, ...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(program, args, { cwd: scratch, maxBuffer: 2 ** 26 });
  return stdout;
};

const readJson = async (path: string): Promise<Json> => JSON.parse(await readFile(path, "utf8"));

const admin = async (...args: string[]): Promise<Json> => {
  const port = ["--json", "--port", new URL(service.apiUrl).port];
  return JSON.parse(await run(process.execPath, join(project, "bin/admin.ts"), ...args, ...port));
};

const { id } = await admin("org", "create", "--name", "Acme", "--scan-every", "never");
const org = String(id);
const { id: domainId } = await admin("domain", "add", "--org", org, "--name", "demo.example", "--verified");
const { key } = await admin("key", "create", "--org", org, "--label", "siem");

const call = async (path: string, body?: Json): Promise<Json> => {
  const reply = await fetch(`${service.apiUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert(reply.ok, `${path}: ${reply.status}`);
  return (await reply.json()) as Json;
};

await call("/emails", { email: "ada@demo.example", domainId });
await call("/scans", {});

/** The feed, once all has come that was logged: an entry is a minute old then. */
const readFeed = async (format: "native" | "ocsf"): Promise<Json[]> => {
  for (const until = Date.now() + 300_000; Date.now() < until; await setTimeout(2_000)) {
    const { items } = await call(`/feed?limit=1000&format=${format}`);
    const isLast = ({ entry, api }: Json) => (entry?.action ?? api?.operation) === "scan.completed";
    if (items.some(isLast)) return items;
  }
  throw new Error("The feed does not have the end of the scan after five minutes");
};

/** AppInspect as Splunk runs it on an app that is uploaded. Its three warnings say that there is a program. */
const splunk = async (): Promise<string> => {
  await run("python3", "-m", "venv", "splunk");
  const pip = ["install", "--quiet", "--disable-pip-version-check", "splunk-appinspect==4.3.1"];
  await run(join(scratch, "splunk/bin/pip"), ...pip);
  await run("tar", "-czf", "breach_monitor.tgz", "-C", join(siem, "splunk"), "breach_monitor");
  const inspect = ["inspect", "breach_monitor.tgz", "--mode", "precert", "--output-file", "splunk.json"];
  await run(join(scratch, "splunk/bin/splunk-appinspect"), ...inspect);
  const { summary, reports } = await readJson(join(scratch, "splunk.json"));
  const warnings = reports
    .flatMap(({ groups }: Json) => groups)
    .flatMap(({ checks }: Json) => checks)
    .filter(({ result }: Json) => !["success", "not_applicable", "skipped"].includes(result))
    .map(({ result, name }: Json) => `${result} ${name}`);
  assert.deepEqual(warnings.sort(), [
    "warning check_for_indexer_synced_configs",
    "warning check_for_python_script_existence",
    "warning check_for_scripted_inputs",
  ]);
  return `AppInspect: ${summary.success} checks passed, no error or failure`;
};

/** The last version of Elasticsearch whose modules are in a Maven repository is 7.10.2. */
const elasticPipeline = async (): Promise<string> => {
  const jars = await fetchArtifacts(readArtifacts(join(import.meta.dirname, "elasticsearch.sha256")), {
    repository: mavenRepository(),
    directory: join(scratch, "jars"),
    onProgress: () => {},
  });
  const items = await readFeed("native");
  const message = "GET /feed: 401 {}";
  const docs = [
    ...items.map((item) => ({ _source: { message: JSON.stringify(item) } })),
    { _source: { message, error: { message } } },
    // Of Filebeat itself.
    { _source: { error: { message } } },
  ];
  const pipeline = await readJson(join(siem, "elastic/pipeline.json"));
  await writeFile(join(scratch, "request.json"), JSON.stringify({ pipeline, docs }));
  const simulate = join(import.meta.dirname, "Simulate.java");
  await run(java, "-cp", jars.join(delimiter), simulate, "request.json", "reply.json", join(scratch, "node"));
  const reply = await readJson(join(scratch, "reply.json"));
  const severities: Json = { critical: 99, high: 73, medium: 47, low: 21 };
  assert.equal(reply.docs.length, docs.length);
  for (const { doc } of reply.docs.splice(items.length))
    assert.deepEqual([doc?._source.message, doc?._source.event.kind], [message, "pipeline_error"]);
  for (const [index, { doc }] of reply.docs.entries()) {
    const { type, at, finding, entry } = items[index] as Json;
    assert(doc !== undefined, JSON.stringify(reply.docs[index]));
    const { "@timestamp": timestamp, event, user, rule } = doc._source;
    assert.equal(Date.parse(timestamp), Date.parse(at));
    assert.equal(doc._id, type === "finding" ? `finding-${finding.id}` : `activity-${entry.id}`);
    assert.deepEqual(
      [event, user, rule],
      type === "finding"
        ? [
            { module: "breach_monitor", kind: "alert", severity: severities[finding.severity] },
            { email: finding.email },
            { name: finding.breach.title },
          ]
        : [
            { module: "breach_monitor", kind: "event", action: entry.action },
            { name: entry.actor.label },
            undefined,
          ],
    );
  }
  return `Elasticsearch: the pipeline took ${items.length} items`;
};

/** One item a page, so that the program has to go on with the cursor, also from the last item. */
const elasticInput = async (): Promise<string> => {
  const { MITO_PATH: mito } = process.env;
  if (mito === undefined) return "The program of Filebeat's input was not run: MITO_PATH is not set";
  const items = await readFeed("native");
  const config = await readFile(join(siem, "elastic/filebeat.yml"), "utf8");
  const [, program = ""] = /program: \|\n([\s\S]*?)\n\n/.exec(config) ?? [];
  await writeFile(join(scratch, "input.cel"), program.replace('["1000"]', '["1"]'));
  const evaluate = async (state: Json): Promise<Json[]> => {
    await writeFile(join(scratch, "state.json"), JSON.stringify(state));
    const printed = await run(mito, "-data", "state.json", "input.cel");
    return JSON.parse(`[${printed.trim().replaceAll(/\n\}\n\{/g, "\n},\n{")}]`);
  };
  const state = { url: `${service.apiUrl}/feed`, token: key };
  const pages = await evaluate(state);
  assert.deepEqual(
    pages.flatMap(({ events }) => events).map(({ message }) => JSON.parse(message)),
    items,
  );
  const { cursor } = pages.at(-1) as Json;
  const [next] = await evaluate({ ...state, cursor });
  assert.deepEqual([next?.events, next?.want_more], [[], false]);
  const [refused] = await evaluate({ ...state, token: "none" });
  assert.match(refused?.events.message, /^GET \/feed: 401 /);
  assert.equal(refused?.events.error.message, refused?.events.message);
  return `mito: the program read ${items.length} items in ${pages.length} pages`;
};

/** Queries are bound to the columns that the template declares, and real events must have values of their types. */
const sentinel = async (): Promise<string> => {
  await writeFile(join(scratch, "package.json"), "{}");
  const npm = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ...npm, "@kusto/language-service-next@12.4.1");
  const load = createRequire(join(scratch, "package.json"));
  // They add `Kusto` to the global object.
  for (const file of ["bridge.min.js", "Kusto.Language.Bridge.min.js"])
    load(`@kusto/language-service-next/${file}`);
  const { Language } = (globalThis as Json).Kusto;
  const { Symbols } = Language;
  type Column = { name: string; type: string };
  const tableOf = (name: string, columns: Column[]): Json => {
    const declared = columns.map((each) => `['${each.name}']: ${each.type}`);
    return Symbols.TableSymbol.From(`(${declared.join(", ")})`).WithName(name);
  };
  const columnsOf = ({ Columns }: Json): Column[] =>
    Array.from({ length: Columns.Count }, (_, at) => {
      const { Name: name, Type: type } = Columns.getItem(at);
      return { name, type: type.Name };
    });
  /** The columns of the result. */
  const bind = (query: string, table: Json): Column[] => {
    const database = new Symbols.DatabaseSymbol.$ctor1("workspace", [table]);
    const globals = Language.GlobalState.Default.WithDatabase(database);
    const code = Language.KustoCode.ParseAndAnalyze(query, globals);
    const problems = code.GetDiagnostics();
    assert.equal(problems.Count, 0, problems.Count > 0 ? `${problems.getItem(0).Message}\n${query}` : "");
    return columnsOf(code.ResultType);
  };

  const { resources } = await readJson(join(siem, "sentinel/template.json"));
  const propertiesOf = (type: string): Json[] =>
    resources.filter((each: Json) => each.type.endsWith(`/${type}`)).map((each: Json) => each.properties);
  const [rule] = propertiesOf("dataCollectionRules");
  const [table] = propertiesOf("tables");
  const columns: Column[] = rule?.streamDeclarations["Custom-BreachMonitor"].columns;
  const target = tableOf(table?.schema.name, table?.schema.columns);
  const filled = bind(rule?.dataFlows[0].transformKql, tableOf("source", columns));
  assert.deepEqual(filled, table?.schema.columns);
  const alertRules = propertiesOf("alertRules");
  for (const { query } of alertRules) bind(query, target);
  for (const { connectorUiConfig: ui } of propertiesOf("dataConnectorDefinitions"))
    bind(ui.dataTypes[0].lastDataReceivedQuery, target);

  const typeOf = (value: unknown): string[] => {
    if (Number.isInteger(value)) return (value as number) < 2 ** 31 ? ["int", "long"] : ["long"];
    return typeof value === "object" ? ["dynamic"] : [typeof value];
  };
  const events = await readFeed("ocsf");
  for (const event of events) {
    for (const { name, type } of columns) {
      if (event[name] !== undefined) assert(typeOf(event[name]).includes(type), `${name} is no ${type}`);
    }
  }
  for (const { name } of columns)
    assert(
      events.some((event) => event[name] !== undefined),
      name,
    );
  return `KQL: the transformation gives the table's columns, ${alertRules.length} rules know them`;
};

/** By the schemas that schema.ocsf.io publishes. */
const ocsf = async (): Promise<string> => {
  const { $defs, ...classes } = await readJson(join(project, "test/cases/ocsf/classes.json"));
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const events = await readFeed("ocsf");
  const names: Json = { 2004: "detection_finding", 6003: "api_activity" };
  const valid = Object.entries(names).map(([uid, name]) => {
    const ofClass = events.filter(({ class_uid }) => class_uid === Number(uid));
    const validate = ajv.compile({ ...classes[name], $defs });
    for (const event of ofClass) assert(validate(event), JSON.stringify(validate.errors));
    assert(ofClass.length > 0, name);
    return `${ofClass.length} of ${name}`;
  });
  return `Ajv: ${valid.join(" and ")} are valid by OCSF 1.8.0`;
};

try {
  const checks = [ocsf, splunk, elasticPipeline, elasticInput, sentinel];
  for (const line of await Promise.all(checks.map((check) => check()))) console.log(`ok: ${line}`);
} finally {
  await service.stop();
  await rm(scratch, { recursive: true, force: true });
}
