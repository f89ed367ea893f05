/** What to do about a link that arrived without its `#` and all behind it. */
export function CutLink() {
  return (
    <div class="notice">
      <p>
        <strong>Did a link in an e-mail bring you here?</strong> Then a part of it is missing: some mail
        programs cut off what follows the <code>#</code>.
      </p>
      <p>
        Open the link in the e-mail itself. If that leads here again, copy the whole link as text and paste it
        into your browser's address bar.
      </p>
    </div>
  );
}
