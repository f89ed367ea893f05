import { CopyButton } from "../../components/button.tsx";

const code = `import { createHmac, timingSafeEqual } from "node:crypto";

/** body: the raw bytes as received; header: X-Service-Signature */
export function isGenuine(body, header, secret) {
  const expected = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(header ?? "", "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}`;

/** How receivers of a webhook tell that a delivery is genuine. */
export function Verification() {
  return (
    <details class="verification">
      <summary>How to verify the signature of a webhook</summary>
      <p>
        A channel with a secret signs each delivery: the header <code>X-Service-Signature</code> is the
        hexadecimal HMAC-SHA256 of the raw body, keyed with the secret. Compute it over the bytes exactly as
        you received them, and compare in constant time. Then check that <code>timestamp</code> is recent, and
        ignore an <code>id</code> that you have seen before: an event can arrive more than once.
      </p>
      <div class="code">
        <CopyButton text={code} about="The code" />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <pre tabIndex={0}>
          <code>{code}</code>
        </pre>
      </div>
    </details>
  );
}
