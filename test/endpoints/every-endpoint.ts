import type { Client, Reply } from "../service/client.ts";
import { preview } from "./upload.ts";

/** Sends one request to every endpoint; gives the replies. */
export const requestEveryEndpoint = (api: Client, domainId: number): Promise<Reply[]> =>
  Promise.all([
    api.post("/scans"),
    api.get("/scans"),
    api.get("/scans/1/coverage"),
    api.get("/emails"),
    api.post("/emails", { email: "alan@demo.example", domainId }),
    api.delete("/emails?id=1"),
    api.patch("/emails/1", { isActive: false }),
    api.get("/breaches"),
    api.post("/breaches/acknowledge", { id: 1 }),
    api.post("/breaches/acknowledgements", { ids: [1], dryRun: true }),
    api.get("/breaches/acknowledgements/1"),
    api.get("/events/1"),
    api.get("/alert-configs"),
    api.post("/alert-configs", { channel: "webhook", config: { url: "https://192.0.32.8/" } }),
    api.patch("/alert-configs/1", { isEnabled: false }),
    api.delete("/alert-configs/1"),
    api.get("/activity"),
    api.get("/feed"),
    preview(api, "alan@demo.example"),
    api.post("/emails/import/commit", { emails: [], quote: {} }),
  ]);
