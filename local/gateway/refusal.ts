import type { ResponseType } from "./gateway-response.ts";

/** Why the gateway answers by itself. */
export type Refusal = {
  type: ResponseType;
  /** Instead of the usual status of the type. */
  status?: number;
  /** Instead of the usual message of the type. */
  message?: string;
  /** Context values of an authorizer that denied. */
  authorizer?: Readonly<Record<string, unknown>>;
};

/** Thrown where the gateway answers by itself. */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.type);
    this.refusal = refusal;
  }
}

/** Waits for work at most this many seconds, then refuses. The work itself continues. */
export const within = async <Result>(
  seconds: number,
  work: Promise<Result>,
  late: Refusal,
): Promise<Result> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Refused(late)), seconds * 1000);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};
