import { join } from "node:path";
import { openAssembly } from "./assembly.ts";
import { asksForHelp, readCommandLine, type Settings, usage } from "./command-line.ts";
import { assemblyPath, openDataDirectory } from "./data-directory.ts";
import { createDemo, describeDemo } from "./demo.ts";
import { startDynamodb } from "./dynamodb.ts";
import { startFront } from "./front.ts";
import { startGateway } from "./gateway.ts";
import { startHibp } from "./hibp.ts";
import { openLambda } from "./lambda.ts";
import { checkPort } from "./loopback.ts";
import { watchNpm } from "./npm-parent.ts";
import { startOutbox } from "./outbox.ts";
import { startScheduler } from "./scheduler.ts";
import { startSecrets } from "./secrets.ts";
import { startSqs } from "./sqs.ts";
import { answerStackInformation, type StackInformation } from "./stack-information.ts";
import { synthesize } from "./synthesis.ts";

// The entry point of `npm start`: synthesizes the stack and runs that template on this machine.

const projectDirectory = join(import.meta.dirname, "..");
const region = "us-east-1";
const accountId = "000000000000";
/** The embedded HIBP server requires exactly this key, and the local secret holds it; both exist on this machine only. */
const embeddedHibpKey = "00000000000000000000000000000000";
/** Mail only goes to the outbox; the name is reserved and cannot exist. */
const senderEmail = "alerts@breach-monitor.example";
const forceAfterMilliseconds = 5_000;

// What a run and its parts write is for whoever started it alone, also in a directory that others may read.
process.umask(0o077);
const args = process.argv.slice(2);
if (asksForHelp(args)) {
  process.stdout.write(usage);
} else {
  await main();
}

async function main(): Promise<void> {
  const stopping = new AbortController();
  const closers: (() => Promise<void> | void)[] = [];

  async function stop(status: number): Promise<void> {
    if (stopping.signal.aborted) {
      return;
    }
    stopping.abort();
    setTimeout(() => process.exit(status), forceAfterMilliseconds).unref();
    for (const close of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        console.error(`While ending: ${(error as Error).message}`);
      }
    }
    process.exit(status);
  }

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => (stopping.signal.aborted ? process.exit(1) : void stop(0)));
  }
  watchNpm(() => void stop(0));
  try {
    const settings = readCommandLine(args, {
      // npm runs us in the project's directory, wherever the person is.
      workingDirectory: process.env.INIT_CWD ?? process.cwd(),
      defaultDirectory: join(projectDirectory, ".local"),
    });
    await run(settings, {
      signal: stopping.signal,
      fail: (reason) => {
        console.error(reason);
        void stop(1);
      },
      // What starts is closed in reverse order, also when it starts while all is ending.
      started: async (part) => {
        const { close } = await part;
        if (stopping.signal.aborted) {
          await close();
          stopping.signal.throwIfAborted();
        }
        closers.push(close);
        return part;
      },
    });
  } catch (error) {
    if (!stopping.signal.aborted) {
      console.error((error as Error).message);
      await stop(1);
    }
  }
}

interface Lifetime {
  readonly signal: AbortSignal;
  fail(reason: string): void;
  started<Part extends { close(): Promise<void> | void }>(part: Part | Promise<Part>): Promise<Part>;
}

async function run(settings: Settings, { signal, fail, started }: Lifetime): Promise<void> {
  const { speed } = settings;
  await checkPort(settings.port);
  const data = await started(openDataDirectory(settings.dataDirectory));
  const directory = data.path;
  console.log(
    data.kept === undefined ? `Nothing is kept; mail and logs go to ${directory}` : `Data is in ${directory}`,
  );
  // Whoever starts many services from the same sources, as the tests do, need not synthesize for each.
  const given = process.env.CLOUD_ASSEMBLY;
  console.log(given === undefined ? "Synthesizing the stack …" : "The stack is synthesized already.");
  const hibpKey =
    settings.hibpUrl === undefined ? embeddedHibpKey : (process.env.HIBP_API_KEY ?? embeddedHibpKey);
  const [hibpUrl] = await Promise.all([
    settings.hibpUrl ??
      started(startHibp({ directory: settings.breachesDirectory, apiKey: hibpKey })).then(({ url }) => url),
    given === undefined && synthesize(assemblyPath(directory), { senderEmail }, signal),
  ]);
  const assembly = openAssembly(given ?? assemblyPath(directory), { region, accountId });

  console.log("Starting it …");
  // Functions only start when something invokes them, and nothing does before the front is there.
  let frontUrl = "";
  const lambda = await started(
    openLambda({
      assembly,
      logDirectory: join(directory, "logs"),
      speed,
      variables: (functionName) => ({
        ...pointSdksTo(frontUrl),
        AWS_ACCESS_KEY_ID: functionName,
        AWS_SECRET_ACCESS_KEY: "local",
        AWS_SESSION_TOKEN: "local",
        HIBP_BASE_URL: hibpUrl,
        OUTBOUND_ALLOWED_ORIGINS: settings.allowedOrigins.join(","),
      }),
      onFunctionError: (functionName, { errorType, errorMessage }) =>
        console.error(`${functionName} failed: ${errorType}: ${errorMessage}`),
    }),
  );
  const [dynamodb, sqs, secrets, outbox] = await Promise.all([
    started(startDynamodb({ assembly, directory: data.kept, onUnexpectedEnd: fail })),
    started(startSqs({ assembly, lambda, speed })),
    started(startSecrets({ assembly, value: hibpKey })),
    started(startOutbox({ directory: join(directory, "outbox") })),
  ]);
  const scheduler = await started(startScheduler({ assembly, lambda, sqs, speed, directory: data.kept }));
  const front = await started(
    startFront({
      assembly,
      upstreams: {
        dynamodb: dynamodb.endpoint,
        sqs: sqs.endpoint,
        scheduler: process.env.AWS_ENDPOINT_URL_SCHEDULER ?? scheduler.endpoint,
        secretsmanager: process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? secrets.endpoint,
        ses: process.env.AWS_ENDPOINT_URL_SESV2 ?? outbox.endpoint,
      },
    }),
  );
  frontUrl = front.url;
  assembly.setQueueBaseUrl(`${frontUrl}/${accountId}`);

  const information: StackInformation = {
    stackName: assembly.stackName,
    region,
    outputs: assembly.outputs(),
    environment: {
      ...pointSdksTo(frontUrl),
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: "local-admin",
      AWS_SECRET_ACCESS_KEY: "local",
    },
    dataDirectory: directory,
  };
  const gateway = await started(
    startGateway({
      assembly,
      lambda,
      port: settings.port,
      answerLocal: (request, response) => answerStackInformation(information, request, response),
    }),
  );
  scheduler.begin();
  console.log(`ready ${gateway.url}/v1`);

  if (settings.withDemo) {
    try {
      const port = Number(new URL(gateway.url).port);
      console.log(describeDemo(await createDemo({ directory, port, signal }), `${gateway.url}/v1`));
    } catch (error) {
      if (!signal.aborted) {
        console.error(`The demo organization could not be made: ${(error as Error).message}`);
      }
    }
  }
}

function pointSdksTo(url: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: url,
    AWS_ENDPOINT_URL_SQS: url,
    AWS_ENDPOINT_URL_SCHEDULER: url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
    AWS_ENDPOINT_URL_SESV2: url,
  };
}
