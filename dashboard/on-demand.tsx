/** Pages whose scripts are loaded when they are first opened, or before that, while there is nothing else to do. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Failure } from "./api/failure.ts";
import { FailureNotice, Loading } from "./components/notice.tsx";
import { store, stored } from "./stored.ts";

type Load<Properties> = () => Promise<ComponentType<Properties>>;

const loads: (() => Promise<unknown>)[] = [];

/** A page that shows how its script loads; once that is there, it is drawn at once. */
export function onDemand<Properties extends object>(load: Load<Properties>): ComponentType<Properties> {
  const loaded = signal<ComponentType<Properties>>();
  const failure = signal<Failure>();
  const loadOnce: Load<Properties> = async () => (loaded.value ??= await load());
  const open = async (): Promise<void> => {
    failure.value = undefined;
    try {
      await loadOnce();
      rememberReload(null);
    } catch {
      failure.value = await reloadOrFail();
    }
  };
  const tryAgain = (): void => {
    rememberReload(null);
    void open();
  };
  loads.push(loadOnce);
  return (properties: Properties) => {
    const Loaded = loaded.value;
    // Not in an effect, which begins only after the first paint.
    useMemo(() => void open(), []);
    if (Loaded !== undefined) return <Loaded {...properties} />;
    if (failure.value !== undefined) return <FailureNotice failure={failure.value} retry={tryAgain} />;
    return <Loading what="the page" />;
  };
}

/** The address that was reloaded because its script was missing, until that is there. */
const reloadedAt = "reloaded-at";
const rememberReload = (address: string | null): boolean => store(reloadedAt, address, "sessionStorage");

/** A missing script belongs to an earlier release. Reloading the wanted address, once, loads the present release. */
async function reloadOrFail(): Promise<Failure> {
  const request = { method: "HEAD", cache: "no-store" } as const;
  const isReachable = await fetch(location.href, request).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isReachable) return new Failure("The service cannot be reached.", { status: 0 });
  const isReloaded = stored(reloadedAt, "sessionStorage") === location.href;
  // What cannot be noted would be done again and again.
  if (isReloaded || !rememberReload(location.href)) {
    return new Failure("A part of the page could not be loaded.", { status: 500 });
  }
  location.reload();
  return new Promise(() => {});
}

const quietMilliseconds = 1_000;

/** Loads the scripts of all pages, one after the other, once the present page had the time to load. */
export function useAllPages(): void {
  useEffect(() => {
    const timer = setTimeout(async () => {
      try {
        for (const load of loads) await load();
      } catch {
        // Whoever opens the page is told.
      }
    }, quietMilliseconds);
    return () => clearTimeout(timer);
  }, []);
}
