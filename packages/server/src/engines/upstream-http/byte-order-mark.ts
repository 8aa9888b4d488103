/** Some servers begin JSON with the mark, which `JSON.parse` refuses. https://www.rfc-editor.org/rfc/rfc8259#section-8.1 */
export function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
