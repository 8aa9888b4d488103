/** What the explorer shows before the first query: queries to begin with. */

const examples: readonly (readonly [title: string, query: string])[] = [
  ["Calls per second, by model", "sum by (model_key) (rate(inference_requests_total[5m]))"],
  [
    "95th percentile of the duration of calls, by model",
    "histogram_quantile(0.95, sum by (le, model_key) (rate(inference_duration_seconds_bucket[5m])))",
  ],
  ["Tokens per minute, read and generated", "sum by (token_type) (increase(token_usage_total[1m]))"],
  [
    "Share of failed calls",
    '1 - sum(rate(inference_requests_total{status="success"}[5m])) / sum(rate(inference_requests_total[5m]))',
  ],
  ["Distribution of durations, for a heat map", "sum by (le) (increase(inference_duration_seconds_bucket[1m]))"],
];

export function ExampleQueries({ onSelect }: { readonly onSelect: (query: string) => void }) {
  return (
    <section class="stack" aria-label="Examples">
      <h2>Queries to begin with</h2>
      <ul class="metrics-examples">
        {examples.map(([title, query]) => (
          <li key={query}>
            <button type="button" class="card" onClick={() => onSelect(query)}>
              <strong>{title}</strong>
              <code>{query}</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
