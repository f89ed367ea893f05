import { describe } from "vitest";
import { testSeeds } from "./gathering-faults.ts";

describe("the messages of a scan, while workers die, queues lose messages, receivers fail", () => {
  testSeeds(process.env.FAULTS_SEED?.split(",") ?? ["1"]);
});
