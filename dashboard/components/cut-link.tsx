/** What to do about a link of which only the part in front of its `#` arrived. */
export function CutLink() {
  return (
    <div class="notice">
      <p>
        <strong>Did a link in an e-mail bring you here?</strong> Then it came incomplete: some mail programs
        cut off what follows the <code>#</code>.
      </p>
      <p>
        Open the link as it stands in the e-mail. If that leads here again, copy all of it as text, and paste
        it into the address bar of your browser.
      </p>
    </div>
  );
}
