import { readFileSync } from "node:fs";
import type { Certificate } from "../../local/harness/receiver.ts";

/** Self-signed test data: one for localhost and 127.0.0.1, one for another host. */
export const loopbackCertificate = readCertificate("loopback-test");
export const otherHostCertificate = readCertificate("other-host-test");

function readCertificate(name: string): Certificate {
  const read = (kind: string) =>
    readFileSync(new URL(`../cases/${name}.${kind}.pem`, import.meta.url), "utf8");
  return { cert: read("cert"), key: read("key") };
}
