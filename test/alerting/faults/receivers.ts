import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { listenOn } from "../../../local/loopback.ts";
import type { Chance } from "./chance.ts";
import { type Clock, hour, second, startedAt } from "./clock.ts";
import type { Faults } from "./faults.ts";
import { type Invocation, type Invocations, nameStep } from "./invocations.ts";
import type { Witness, Witnesses } from "./witnesses.ts";

/** What a receiver does with a post, and how many milliseconds later. */
type Reaction = { after: number; status: number | "reset" };
/** `elapsed`: milliseconds since the simulation began. `draw`: from 0 to below 1. */
type Behaviour = (elapsed: number, draw: number) => Reaction;

const accepts: Reaction = { after: 100, status: 204 };

/** How the receiver of each channel behaves; scenario.ts disables and removes three of the channels. */
export const behaviours: Record<string, Behaviour> = {
  healthy: () => accepts,
  flaky: (_, draw) => (draw < 0.4 ? { after: 300, status: draw < 0.1 ? "reset" : 500 } : accepts),
  slow: (_, draw) =>
    draw < 0.2 ? { after: 10 * second, status: "reset" } : { after: 500 + draw * 8 * second, status: 200 },
  // Recovers after three hours.
  down: (elapsed) => (elapsed < 3 * hour ? { after: 0, status: "reset" } : accepts),
  dead: () => ({ after: 50, status: 503 }),
  // The channel is removed after 20 minutes.
  removed: (_, draw) => (draw < 0.8 ? { after: 2 * second, status: 500 } : accepts),
  // The channel is disabled from 30 minutes on for five hours; from then on the receiver accepts.
  disabled: (elapsed) => (elapsed < 5 * hour ? { after: 100, status: 500 } : accepts),
  // The channel is disabled after 40 minutes and stays so.
  abandoned: () => ({ after: 100, status: 500 }),
};

type Parts = {
  clock: Clock;
  chance: Chance;
  faults: Faults;
  invocations: Invocations;
  witnesses: Witnesses;
};

/** One server that receives the posts of all channels (`/<channel>`) and checks each of them. */
export class Receivers {
  posts = 0;
  readonly #parts: Parts;
  readonly #server = createServer((request, response) => this.#receive(request, response));

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async listen(): Promise<{ origin: string; close: () => Promise<void> }> {
    const { port, close } = await listenOn(this.#server);
    return { origin: `http://127.0.0.1:${port}`, close };
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, chance, invocations, witnesses } = this.#parts;
    const { id, timestamp, data } = (await json(request)) as Envelope;
    const witness = witnesses.get(id);
    const invocation = invocations.atWork.get(id);
    if (witness === undefined || invocation === undefined) {
      witnesses.violations.push(`A post of the unknown delivery ${id}`);
      response.writeHead(500).end();
      return;
    }
    this.posts++;
    witnesses.checkPost(witness, { path: request.url ?? "", timestamp, error: data.error });
    const name = nameStep(invocation, "post");
    const behaviour = behaviours[witness.channel];
    const reaction = behaviour?.(clock.now - startedAt, chance.draw(name)) ?? accepts;
    this.#mayKill(invocation, name, reaction);
    this.#respondLater(invocation, witness, reaction, response);
  }

  /** Now and then kills the sender while it waits for the response. */
  #mayKill(invocation: Invocation, name: string, { after }: Reaction): void {
    const { clock, chance, faults, invocations } = this.#parts;
    if (!faults.strikes(`${name}/broken`)) return;
    faults.note("post: kill");
    const killedAt = clock.now + after * chance.draw(`${name}/how`);
    clock.at(killedAt, invocation.lane, async () => invocations.end(invocation, "dead"));
  }

  #respondLater(
    invocation: Invocation,
    witness: Witness,
    { after, status }: Reaction,
    response: ServerResponse,
  ): void {
    const settle = (): void => {
      invocation.post = undefined;
      witness.hasOpenPost = false;
    };
    const post = {
      close: () => {
        settle();
        response.destroy();
      },
    };
    invocation.post = post;
    witness.hasOpenPost = true;
    // The sender's deadline passes in real time: a very slow machine may exceed it here.
    response.on("close", () => {
      if (invocation.post !== post) return;
      this.#parts.faults.note("post: deadline, which no other run need have");
      settle();
    });
    this.#parts.invocations.pause(invocation, after, () => {
      if (invocation.post !== post) return;
      settle();
      if (status === "reset") return void response.destroy();
      if (status < 300) witness.accepted = true;
      response.writeHead(status).end();
    });
  }
}

type Envelope = { id: number; timestamp: string; data: { error: string } };
