import { testRecording } from "./recorded.ts";

testRecording("before-sealed-channels.json", { isOfNext: false });
