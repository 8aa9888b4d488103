/** Collects the kinds of a map's attribute values and writes them to the column next to it. */
import type { StringColumn } from "../../store/column-writers.ts";
import { attributeKinds } from "../../store/attribute-kinds.ts";

/** ASCII codes of the letters of `attributeKinds`. */
export const kindCodes = Object.fromEntries(
  Object.entries(attributeKinds).map(([kind, letter]) => [kind, letter.charCodeAt(0)]),
) as Record<keyof typeof attributeKinds, number>;

const stringKind = kindCodes.string;

export class AttributeKinds {
  #codes = new Uint8Array(64);
  #count = 0;
  #allStrings = true;

  /** @param code the kind of the map's next value, one of `kindCodes` */
  add(code: number): void {
    if (code !== stringKind) this.#allStrings = false;
    if (this.#count === this.#codes.length) {
      const larger = new Uint8Array(this.#count * 2);
      larger.set(this.#codes);
      this.#codes = larger;
    }
    this.#codes[this.#count++] = code;
  }

  /** Ends the row's map: writes the kinds of its values, or nothing if all are strings. */
  end(types: StringColumn): void {
    if (this.#allStrings) types.addDefault();
    else types.bytes(this.#codes, 0, this.#count);
    this.#count = 0;
    this.#allStrings = true;
  }
}
