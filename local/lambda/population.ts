/** The instances of all functions, some of which end when they take too much memory together. */

/**
 * How much memory the functions of all instances may have been given; with more, instances that have been
 * idle longest end. (An instance really takes far less: 35 to 60, and up to 200 after much work.) The variable
 * LOCAL_KEPT_MEGABYTES replaces this limit, for tests: there, waiting for a start costs more than memory.
 */
const defaultKeptMegabytes = 10_240;

/** How long an instance stays idle at least: in a burst of requests it is about to be used again. */
const shortestIdleSeconds = 1;

type Member = { memoryMegabytes: number };

export type Population = {
  add(instance: Member): void;
  /** Once for each instance that was added. */
  delete(instance: Member): void;
  /** `end` is called if the instances take too much memory and this one has been idle longest. */
  idle(instance: Member, end: () => void): void;
  busy(instance: Member): void;
};

export const openPopulation = (): Population => {
  /** The instance that has been idle longest comes first. */
  const idle = new Map<Member, { since: number; end: () => void }>();
  const keptMegabytes = Number(process.env.LOCAL_KEPT_MEGABYTES ?? defaultKeptMegabytes);
  let megabytes = 0;

  const trim = (): void => {
    const idleSince = performance.now() - shortestIdleSeconds * 1000;
    for (const { since, end } of idle.values()) {
      if (megabytes <= keptMegabytes || since > idleSince) return;
      end();
    }
  };

  return {
    add: ({ memoryMegabytes }) => {
      megabytes += memoryMegabytes;
      trim();
    },
    delete: (instance) => {
      idle.delete(instance);
      megabytes -= instance.memoryMegabytes;
    },
    idle: (instance, end) => {
      idle.set(instance, { since: performance.now(), end });
      setTimeout(trim, shortestIdleSeconds * 1000 + 1).unref();
    },
    busy: (instance) => idle.delete(instance),
  };
};
