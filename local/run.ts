/** One run: its parts, and how they are connected. */
import { join } from "node:path";
import type { Settings } from "./command-line.ts";
import { assemblyPath, type DataDirectory, openDataDirectory } from "./data-directory.ts";
import { createDemo, createSignInLink, describeDemo } from "./demo.ts";
import { writeDemoBreaches } from "./demo-breaches.ts";
import { startDynamodb } from "./dynamodb/dynamodb.ts";
import { type Front, startFront } from "./front/front.ts";
import { refusalMessage } from "./gateway/authorizer.ts";
import { type Gateway, startGateway } from "./gateway/gateway.ts";
import { startHibp } from "./hibp/hibp.ts";
import { administrator, secretAccessKey, sessionToken } from "./iam/iam.ts";
import { type Lambda, openLambda } from "./lambda/lambda.ts";
import type { Lifetime } from "./lifetime.ts";
import { checkPort, listenOnLoopback } from "./loopback.ts";
import { startParameters } from "./parameters/parameters.ts";
import { noteRun } from "./runs.ts";
import { type Scheduler, startScheduler } from "./scheduler/scheduler.ts";
import { startOutbox } from "./ses/outbox.ts";
import { startSqs } from "./sqs/sqs.ts";
import { answerStackInformation, type StackInformation } from "./stack-information.ts";
import { synthesize } from "./synthesis.ts";
import { type Assembly, openAssembly } from "./template/assembly.ts";

const region = "us-east-1";
const accountId = "000000000000";

/** The key of the embedded HIBP server, which a local parameter holds. It opens nothing else. */
const embeddedHibpKey = "00000000000000000000000000000000";

/** Mail only goes to the outbox. The name is reserved (RFC 2606), so that it can't be anybody's. */
const senderEmail = "alerts@breach-monitor.example";

/** Starts all parts, in the order in which they need each other, and prints what a person has to know. */
export const run = async (settings: Settings, lifetime: Lifetime): Promise<void> => {
  await checkPort(settings.port);
  const data = await lifetime.started(openDataDirectory(settings.dataDirectory));
  console.log(
    data.kept === undefined ? `Nothing is kept; mail and logs go to ${data.path}` : `Data is in ${data.path}`,
  );
  const { assembly, hibp } = await prepare(settings, data, lifetime);
  console.log("Starting it …");
  // One of the demo organization's channels fails, so that people see what that looks like.
  const broken = settings.withDemo
    ? await lifetime.started(listenOnLoopback(() => ({ status: 503, body: { error: "Out of order" } })))
    : undefined;
  const allowedOrigins = [...settings.allowedOrigins, ...(broken === undefined ? [] : [broken.url])];
  const { lambda, front, scheduler } = await startServices({ ...settings, allowedOrigins }, data, lifetime, {
    assembly,
    hibp,
  });
  const information: Omit<StackInformation, "outputs"> = {
    stackName: assembly.stackName,
    region,
    environment: {
      ...pointSdksTo(front.url),
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: administrator,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      HIBP_BASE_URL: hibp.url,
    },
    dataDirectory: data.path,
  };
  const gateway = await lifetime.started(
    startGateway({
      assembly,
      lambda,
      port: settings.port,
      answerLocal: (request, response) =>
        answerStackInformation({ ...information, outputs: assembly.outputs() }, request, response),
    }),
  );
  // Functions start for requests, messages and schedules. None has come yet.
  assembly.setApiOrigin(new URL(gateway.url).origin);
  scheduler.begin();
  console.log(`ready ${gateway.url}/v1`);
  await lifetime.started(noteRun(Number(new URL(gateway.url).port)));
  if (broken === undefined) console.log(firstCommands);
  else await showDemo(gateway, broken.url, data, lifetime);
};

/** Without the demo organization. */
const firstCommands = `Make an organization and a user, and sign in by the link of the last command:
  npm run admin -- org create --name Acme
  npm run admin -- user create --org ID --email you@acme.example --role admin
  npm run admin -- user sign-in-link --org ID --user ID`;

type Hibp = { url: string; key: string };

/** Synthesizes the template, and starts the HIBP server unless another one is named. */
const prepare = async (
  settings: Settings,
  data: DataDirectory,
  { signal, started }: Lifetime,
): Promise<{ assembly: Assembly; hibp: Hibp }> => {
  // CLOUD_ASSEMBLY saves the synthesis when many services start from the same sources, as in tests.
  const given = process.env.CLOUD_ASSEMBLY;
  console.log(given === undefined ? "Synthesizing the stack …" : "The stack is synthesized already.");
  const key =
    settings.hibpUrl === undefined ? embeddedHibpKey : (process.env.HIBP_API_KEY ?? embeddedHibpKey);
  const embedded = async (): Promise<string> => {
    const directory =
      settings.breachesDirectory ?? (settings.withDemo ? await writeDemoBreaches(data.path) : undefined);
    const server = await started(startHibp({ directory, apiKey: key, plan: settings.plan }));
    return server.url;
  };
  const [url] = await Promise.all([
    settings.hibpUrl ?? embedded(),
    given === undefined && synthesize(assemblyPath(data.path), contextOf(settings), signal),
  ]);
  const assembly = openAssembly(given ?? assemblyPath(data.path), { region, accountId });
  return { assembly, hibp: { url, key } };
};

/** The values of `cdk deploy -c` with which a local run is synthesized. */
const contextOf = ({ identityProvider, transactionKeys }: Settings): Record<string, string> => ({
  senderEmail,
  // With guards nothing would be written in a transaction.
  ...(transactionKeys === "none" && { keyGuards: "false" }),
  ...identityProvider,
});

/** Parameters that operators make: the HIBP key, and what the person who starts a run gives in the environment. */
const givenParameters = (assembly: Assembly, hibp: Hibp): Record<string, string> => {
  const { HibpApiKeyParameter = "", OidcClientSecretParameter: name } = assembly.outputs();
  const { OIDC_CLIENT_SECRET: secret } = process.env;
  return {
    [HibpApiKeyParameter]: hibp.key,
    ...(name !== undefined && secret !== undefined && { [name]: secret }),
  };
};

/**
 * Starts the emulated services and the front before them. Emulations that an AWS_ENDPOINT_URL_* variable
 * replaces start too, but get no requests; the DynamoDB engine does not start then.
 */
const startServices = async (
  { speed, allowedOrigins, nameServer, dynamodb: behaviour, transactionKeys }: Settings,
  data: DataDirectory,
  { fail, started }: Lifetime,
  { assembly, hibp }: { assembly: Assembly; hibp: Hibp },
): Promise<{ lambda: Lambda; front: Front; scheduler: Scheduler }> => {
  // Functions only start when something invokes them, and nothing does before the front is there.
  let frontUrl = "";
  const lambda = await started(
    openLambda({
      assembly,
      logDirectory: join(data.path, "logs"),
      speed,
      variables: (functionName) => ({
        ...pointSdksTo(frontUrl),
        AWS_ACCESS_KEY_ID: functionName,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        AWS_SESSION_TOKEN: sessionToken,
        HIBP_BASE_URL: hibp.url,
        PLAIN_HTTP: "true",
        OUTBOUND_ALLOWED_ORIGINS: allowedOrigins.join(","),
        PROOF_NAME_SERVER: nameServer ?? "",
      }),
      onFunctionError: (functionName, { errorType, errorMessage }) => {
        if (errorMessage !== refusalMessage)
          console.error(`${functionName} failed: ${errorType}: ${errorMessage}`);
      },
    }),
  );
  const [dynamodb, sqs, parameters, outbox] = await Promise.all([
    started(startDynamodb({ assembly, directory: data.kept, onUnexpectedEnd: fail })),
    started(startSqs({ assembly, lambda, speed })),
    started(startParameters({ assembly, directory: data.kept, given: givenParameters(assembly, hibp) })),
    started(startOutbox({ directory: join(data.path, "outbox") })),
  ]);
  const scheduler = await started(startScheduler({ assembly, lambda, speed, directory: data.kept }));
  const front = await started(
    startFront({
      assembly,
      dynamodb: behaviour,
      transactionKeys,
      upstreams: {
        dynamodb: dynamodb.endpoint,
        sqs: sqs.endpoint,
        scheduler: process.env.AWS_ENDPOINT_URL_SCHEDULER ?? scheduler.endpoint,
        ses: process.env.AWS_ENDPOINT_URL_SESV2 ?? outbox.url,
        ssm: process.env.AWS_ENDPOINT_URL_SSM ?? parameters.url,
      },
    }),
  );
  frontUrl = front.url;
  assembly.setQueueBaseUrl(`${frontUrl}/${accountId}`);
  return { lambda, front, scheduler };
};

const showDemo = async (
  { url }: Gateway,
  brokenUrl: string,
  data: DataDirectory,
  { signal }: Lifetime,
): Promise<void> => {
  try {
    const port = Number(new URL(url).port);
    const demo = await createDemo({ directory: data.path, port, brokenUrl, signal });
    const signInLink = await createSignInLink(demo, { port, signal });
    console.log(describeDemo(demo, signInLink, `${url}/v1`));
  } catch (error) {
    if (signal.aborted) return;
    console.error(`The demo organization could not be made: ${(error as Error).message}`);
  }
};

/** The variables that an AWS SDK reads its endpoints from. */
const pointSdksTo = (url: string): Record<string, string> => ({
  AWS_ENDPOINT_URL_DYNAMODB: url,
  AWS_ENDPOINT_URL_SQS: url,
  AWS_ENDPOINT_URL_SCHEDULER: url,
  AWS_ENDPOINT_URL_SESV2: url,
  AWS_ENDPOINT_URL_SSM: url,
});
