import type { Reply } from "../loopback.ts";
import { Refused } from "./refusal.ts";

/** Runs a request once per client token; without a token every time. */
export type ClientTokens = {
  /**
   * `request` is the request as text. The same token with the same text gets the first answer again; the same
   * token with another text is refused.
   */
  once(token: string | undefined, request: string, act: () => Promise<Reply>): Promise<Reply>;
};

const maximumTokens = 1000;

export const openClientTokens = (): ClientTokens => {
  const answered = new Map<string, { request: string; reply: Reply }>();
  return {
    once: async (token, request, act) => {
      if (token === undefined) return act();
      const earlier = answered.get(token);
      if (earlier !== undefined) {
        if (earlier.request === request) return earlier.reply;
        throw new Refused(409, "ConflictException", "The client token was used with other parameters.");
      }
      const reply = await act();
      answered.set(token, { request, reply });
      const [oldest] = answered.keys();
      if (answered.size > maximumTokens && oldest !== undefined) answered.delete(oldest);
      return reply;
    },
  };
};
