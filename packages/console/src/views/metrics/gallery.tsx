/** The metrics by name, in groups, each with a small chart. */
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { parameter, setParameters } from "../../state/address.ts";
import { GalleryCard, type MetricList } from "./gallery-card.tsx";
import { LabelFilter } from "./label-filter.tsx";

const group = parameter("group");
const service = parameter("service_name");
const model = parameter("model_key");

export function Gallery() {
  const list = useQuery((signal) => requestJson<MetricList>("observability/metrics", { signal }));
  const { data, error } = list;
  if (error.value !== undefined) return <ErrorState error={error.value} onRetry={list.reload} />;
  if (data.value === undefined) return <Loading what="metrics" />;
  const all = data.value.data;
  const groups = [...new Set(all.map((each) => each.group))];
  const ofGroup = all.filter((each) => group.value === undefined || each.group === group.value);
  const filters = [
    ...(service.value === undefined ? [] : ["service_name"]),
    ...(model.value === undefined ? [] : ["model_key"]),
  ];
  const shown = ofGroup.filter((each) => filters.every((filter) => each.filters.includes(filter)));
  const missing = ofGroup.length - shown.length;
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Filters">
        <select
          class="select metrics-filter"
          aria-label="Group"
          value={group.value ?? ""}
          onChange={({ currentTarget: { value } }) => setParameters({ group: value === "" ? undefined : value })}
        >
          <option value="">All groups</option>
          {groups.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <LabelFilter parameter="service_name" label="service_name" name="Service" all="All services" />
        <LabelFilter parameter="model_key" label="model_key" name="Model" all="All models" />
      </div>
      {missing > 0 && (
        <Notice>
          {missing} {missing === 1 ? "metric cannot" : "metrics cannot"} be filtered by{" "}
          {filters.map((filter) => (filter === "model_key" ? "model" : "service")).join(" and ")} and{" "}
          {missing === 1 ? "is" : "are"} not shown.
        </Notice>
      )}
      {shown.length === 0 && <EmptyState title="No metric has these filters" icon="metrics" />}
      {groups
        .map((title) => ({ title, metrics: shown.filter((each) => each.group === title) }))
        .filter(({ metrics }) => metrics.length > 0)
        .map(({ title, metrics }) => (
          <section key={title} class="stack" aria-label={title}>
            <h2>{title}</h2>
            <div class="metrics-gallery">
              {metrics.map((metric) => (
                <GalleryCard key={metric.name} metric={metric} service={service.value} model={model.value} />
              ))}
            </div>
          </section>
        ))}
    </div>
  );
}
