/** Converts prices into the currency of costs, by the operator's rates, without rounding the product of two decimals. */

/** How a price was converted. */
export interface Conversion {
  /** Of the price, as it was given. */
  readonly currency: string;
  /** What one unit of it is in the currency of costs. */
  readonly rate: number;
}

export interface ExchangeRates {
  /** Undefined for the currency of costs itself. @throws Error if there is no rate @param setting that names the currency */
  conversionFrom(currency: string, setting: string): Conversion | undefined;
  /** Whether prices in it can be used. */
  has(currency: string): boolean;
}

const known: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/**
 * @param currency of costs
 * @param rates what one unit of each currency is in it
 * @throws Error for a currency that does not exist
 */
export function readExchangeRates(currency: string, rates: Readonly<Record<string, number>>): ExchangeRates {
  if (!known.has(currency)) throw new Error(unknownCurrency("telemetry.currency", currency));
  for (const each of Object.keys(rates)) {
    if (!known.has(each)) throw new Error(unknownCurrency("telemetry.exchange_rates", each));
    if (each === currency) {
      throw new Error(`telemetry.exchange_rates has ${each}, which is telemetry.currency; remove it.`);
    }
  }
  const conversions = new Map(Object.entries(rates).map(([each, rate]) => [each, { currency: each, rate }]));
  return {
    has: (each) => each === currency || conversions.has(each),
    conversionFrom(each, setting) {
      if (each === currency) return undefined;
      const found = conversions.get(each);
      if (found !== undefined) return found;
      throw new Error(
        known.has(each)
          ? `${setting} is ${each}, and telemetry.currency is ${currency}; set telemetry.exchange_rates.${each} to what one ${each} is in ${currency}.`
          : unknownCurrency(setting, each),
      );
    },
  };
}

function unknownCurrency(setting: string, code: string): string {
  return `${setting} is ${JSON.stringify(code)}; expected a code of ISO 4217, such as EUR.`;
}

/** The product of two decimals, as exact as if it had been written down: 2.2 at 1.1 is 2.42, not 2.4200000000000004. */
export function converted(amount: number, conversion: Conversion | undefined): number {
  if (conversion === undefined) return amount;
  const [left, right] = [decimalOf(amount), decimalOf(conversion.rate)];
  return Number(`${left.digits * right.digits}e${left.exponent + right.exponent}`);
}

/** Of a number, as it is written in decimals. */
function decimalOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
