/** What spreadsheets and exports write where nothing is. */

/** `#DIV/0!`, `#BEZUG!`, `#¿NOMBRE?`: Excel ends most of its error values so, in every language that it has. */
const errorValue = /^#[¡¿]?\p{L}[\p{L}\p{M}\p{N}_./'’ -]*[!?]$/u;

/** Error values without a mark at their end: `#N/A`, as it is called in the languages of Excel. */
const notAvailable =
  /^#(?:\p{L}\/\p{L}|na|nv|yok|hiányzik|puuttuu|nedostupn[ýé]|není_k_dispozici|getting_data)$/iu;

/** What LibreOffice and Google Sheets show for an error, and a pivot table for nothing. */
const emptyInSpreadsheets = new RegExp(
  "^(?:(?:err|error|fehler|erreur|errore|erro|fout):\\s*\\d{3}|loading(?:\\.\\.\\.|…)|n/a" +
    "|\\((?:blank|leer|vide|en blanco|vuoto|vazio|leeg)\\))$",
  "i",
);

const punctuation = /^[\p{P}+=~^|<>$`´\s]+$/u;

const maximumCharacters = 40;

/** Whether a cell holds no text of a person: an error value, or only punctuation, such as a dash. */
export const isPlaceholder = (cell: string): boolean => {
  const text = cell.trim().normalize("NFC");
  return (
    text.length <= maximumCharacters &&
    [errorValue, notAvailable, emptyInSpreadsheets, punctuation].some((form) => form.test(text))
  );
};
