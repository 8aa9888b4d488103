/** The colours of charts: custom properties of the theme. */

/** A colour for the n-th series. */
export function seriesColor(index: number): string {
  return `--series-${(index % 8) + 1}`;
}

/** A custom property as a CSS value. */
export function chartColor(property: string): string {
  return `var(${property})`;
}

/** The value for a canvas, which knows neither custom properties nor `light-dark()`. */
export function canvasColor(element: HTMLElement, property: string): string {
  // A new element has its color at once; the color of a known one may be in transition.
  const probe = document.createElement("span");
  probe.style.color = chartColor(property);
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
