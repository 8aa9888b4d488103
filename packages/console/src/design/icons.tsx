/** The icons, drawn on a grid of 16 units with the text's colour. They never carry a name: the control does. */

const paths = {
  overview: "M2 9h3l2-6 3 10 2-6 1 2h1",
  traces: "M2 3h9M4 7h9M6 11h7M2 15h5",
  conversations: "M2 3h12v8H7l-3 3v-3H2z",
  logs: "M3 2h10v12H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3",
  metrics: "M2 2v12h12M5 11V8M8 11V5M11 11V7",
  spend:
    "M8 14.500a6.5 6.5 0 100-13 6.5 6.5 0 000 13M10.5 5.700C10 4.900 9.100 4.500 8 4.500c-1.400 0-2.400.700-2.400 1.700 0 2.500 4.900 1.200 4.900 3.700 0 1-1 1.700-2.500 1.700-1.200 0-2.200-.500-2.700-1.400M8 3v10",
  playground: "M5 3l8 5-8 5z",
  models: "M8 1.5l6 3v7l-6 3-6-3v-7zM2 4.5l6 3 6-3M8 7.5v7",
  administration: "M8 8a3 3 0 100-6 3 3 0 000 6M2.5 14c.6-2.8 2.7-4 5.5-4s4.9 1.2 5.5 4",
  preferences:
    "M2 4.500h7M13 4.500h1M2 11.500h1M7 11.500h7M11 6.500a2 2 0 100-4 2 2 0 000 4M5 13.500a2 2 0 100-4 2 2 0 000 4",
  search: "M7 12A5 5 0 107 2a5 5 0 000 10M10.7 10.700L14 14",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.500l3.5 3.500L13 5",
  history: "M8 4.500V8l2.5 1.500M8 14.500a6.5 6.5 0 100-13 6.5 6.5 0 000 13",
  copy: "M6 6h8v8H6zM10 6V2H2v8h4",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M2.5 14h11",
  refresh: "M13.500 2.500v4h-4M13.200 6.500a5.500 5.500 0 10.3 3",
  left: "M10 3L5 8l5 5",
  right: "M6 3l5 5-5 5",
  down: "M3 6l5 5 5-5",
  up: "M3 10l5-5 5 5",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  warning: "M8 2l6.5 11.500h-13zM8 6.500v3.500M8 11.800v.2",
  error: "M8 14.500a6.5 6.5 0 100-13 6.5 6.5 0 000 13M8 4.500v4.500M8 11.300v.2",
  info: "M8 14.500a6.5 6.5 0 100-13 6.5 6.5 0 000 13M8 7v4.500M8 4.500v.2",
  menu: "M2 4h12M2 8h12M2 12h12",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  link: "M6.5 9.500l3-3M7 4.500L9 2.600a3 3 0 014.3 4.300L11.5 9M9 11.500l-2 1.900a3 3 0 01-4.3-4.300L4.5 7",
  filter: "M2 3h12L9.5 8.500V13l-3 1V8.500z",
  play: "M4 2.500l9 5.5-9 5.500z",
  pause: "M5 3v10M11 3v10",
  stop: "M4 4h8v8H4z",
  microphone:
    "M8 10a2.5 2.5 0 002.5-2.500V4a2.5 2.5 0 00-5 0v3.500A2.5 2.5 0 008 10M3.5 7.500a4.5 4.5 0 009 0M8 12v2.5",
  external: "M6 3H3v10h10v-3M9 2.500h4.500V7M13 3L7.5 8.5",
  live: "M8 9.500a1.5 1.5 0 100-3 1.5 1.5 0 000 3M4.5 11.500a5 5 0 010-7M11.5 4.500a5 5 0 010 7M2.5 13.500a8 8 0 010-11M13.5 2.500a8 8 0 010 11",
  sun: "M8 11a3 3 0 100-6 3 3 0 000 6M8 1v1.500M8 13.500V15M1 8h1.500M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13.5 9.500A6 6 0 016.5 2.500a6 6 0 107 7z",
  edit: "M3 13l.7-3L11 2.700l2.300 2.300L6 12.300zM9.500 4.200l2.300 2.300",
  code: "M5 4L1.500 8 5 12M11 4l3.500 4-3.500 4M9 3L7 13",
  image: "M2 3h12v10H2zM5.500 7a1 1 0 100-2 1 1 0 000 2M2.500 12l4-4 3 3 2-2 2 2",
  send: "M8 13V3M3.500 7.500L8 3l4.500 4.500",
  columns: "M2 3h12v10H2zM8 3v10",
  key: "M5.5 10.5a3 3 0 100-6 3 3 0 000 6M8.5 7.5H14M12 7.5V10M10 7.5v1.5",
  "sign-out": "M6 2H2.500v12H6M10.5 4.500L14 8l-3.5 3.500M14 8H6",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
