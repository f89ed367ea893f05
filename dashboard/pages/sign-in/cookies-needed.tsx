/** What to do where the browser refuses the cookie that a session is. */
export function CookiesNeeded() {
  return (
    <div class="notice" role="alert">
      <p>
        <strong>This browser blocks cookies here, and nobody can sign in without one.</strong> It says who you
        are, and nothing else is stored in it.
      </p>
      <p>
        Allow cookies for <bdi>{location.hostname}</bdi> in the browser's settings, then reload this page. A
        sign-in link is not used up until then.
      </p>
    </div>
  );
}
