import { describe, expect, inject, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { places } from "./axe.ts";
import { isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

describe("A page that is opened directly", () => {
  test("asks the service twice at most, for the session and for what it shows", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const emailId = await addEmail(api, domainId, "grace@demo.example");
    const url = `${inject("receiverUrl")}/requests-${org}`;
    const channel = await createChannel(api, { channel: "webhook", config: { url } });
    await scan(api);
    const [finding] = (await api.get("/breaches?limit=1")).body.breaches as {
      id: number;
      breach: { id: number };
    }[];
    if (finding === undefined) throw new Error("There is no finding");
    const { page } = await signInTo({ id: org });
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/api/") && !pathname.startsWith("/api/app")) asked.push(pathname);
    });
    const open = async (place: string, text?: string): Promise<void> => {
      asked.length = 0;
      await page.goto(urlOf(place));
      await page.locator(".organization").waitFor();
      await isLoaded(page);
      if (text !== undefined) await page.getByText(text).waitFor();
      expect(asked.length, `${place}: ${asked}`).toBeLessThanOrEqual(2);
    };

    const breach = `/breaches/${finding.breach.id}`;
    const ofOne = [breach, `/findings/${finding.id}`, `/emails/${emailId}`, `/alerts?channel=${channel}`];
    for (const place of [...places, ...ofOne]) await open(place);

    await api.post("/breaches/acknowledge", { id: finding.id });
    await open(breach, "The only one is handled.");
    await open(`${breach}?acknowledged=true`, "Handled");
    await open("/findings?severity=low&domainId=999999999", "No finding matches these filters.");
    await open("/breaches/999999999", "Nobody here is in this breach.");
  });
});
