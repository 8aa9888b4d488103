/** Tabs that are links: each has an address. */

export interface Tab {
  readonly id: string;
  readonly title: string;
  /** From `href`. */
  readonly address: string;
}

export function Tabs({
  tabs,
  current,
  label,
}: {
  readonly tabs: readonly Tab[];
  readonly current: string;
  readonly label: string;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, title, address }) => (
        <a key={id} href={address} aria-current={id === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
