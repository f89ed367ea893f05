import { openKeptFile } from "../kept-file.ts";
import { type LoopbackServer, listenOnLoopback, type Reply } from "../loopback.ts";
import type { Assembly } from "../template/assembly.ts";

type Parameter = { type: string; value: string; version: number };

/**
 * Parameter Store's GetParameter, PutParameter and DeleteParameter on a free loopback port. With a directory
 * the parameters are kept there, readable to their owner alone; each is on disk before its reply. `given`:
 * encrypted parameters that this run has, by name; they are not kept.
 */
export const startParameters = async (settings: {
  assembly: Pick<Assembly, "region" | "accountId">;
  directory: string | undefined;
  given?: Readonly<Record<string, string>>;
}): Promise<LoopbackServer> => {
  const { assembly, directory, given = {} } = settings;
  const stored = new Map<string, Parameter>();
  const file = await openKeptFile(directory, "parameters.json", () =>
    [...stored].filter(([name]) => given[name] === undefined),
  );
  for (const [name, parameter] of (await file.read()) ?? []) stored.set(name, parameter);
  for (const [name, value] of Object.entries(given)) {
    stored.set(name, { type: "SecureString", value, version: 1 });
  }

  const answers: Record<string, (input: Record<string, unknown>) => Promise<Reply> | Reply> = {
    GetParameter: ({ Name, WithDecryption }) => {
      const name = String(Name);
      const parameter = stored.get(name);
      if (parameter === undefined) return refuse("ParameterNotFound", "");
      if (parameter.type === "SecureString" && WithDecryption !== true)
        return refuse("ValidationException", "A local run gives encrypted parameters only decrypted.");
      const { type, value, version } = parameter;
      return {
        status: 200,
        body: {
          Parameter: {
            ARN: `arn:aws:ssm:${assembly.region}:${assembly.accountId}:parameter/${name.replace(/^\//, "")}`,
            Name: name,
            Type: type,
            Value: value,
            Version: version,
          },
        },
      };
    },
    PutParameter: async ({ Name, Type, Value, Overwrite }) => {
      const name = String(Name);
      const before = stored.get(name);
      if (before !== undefined && Overwrite !== true)
        return refuse(
          "ParameterAlreadyExists",
          "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.",
        );
      const version = (before?.version ?? 0) + 1;
      const type = String(Type ?? before?.type ?? "String");
      stored.set(name, { type, value: String(Value), version });
      await file.save();
      return { status: 200, body: { Tier: "Standard", Version: version } };
    },
    DeleteParameter: async ({ Name }) => {
      if (!stored.delete(String(Name))) return refuse("ParameterNotFound", "");
      await file.save();
      return { status: 200, body: {} };
    },
  };

  return listenOnLoopback((request, body) => {
    const operation = String(request.headers["x-amz-target"] ?? "").replace(/^AmazonSSM\./, "");
    const answer = answers[operation];
    if (answer === undefined)
      return refuse("InvalidAction", `A local run knows only ${Object.keys(answers).join(", ")}.`);
    return answer(JSON.parse(body.toString()) as Record<string, unknown>);
  });
};

const refuse = (type: string, message: string): Reply => ({
  status: 400,
  body: { __type: type, message },
});
