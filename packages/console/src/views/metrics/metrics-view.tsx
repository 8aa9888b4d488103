/** The view "Metrics": a gallery of metrics by name, and an explorer for PromQL. */
import { Tabs } from "../../design/tabs.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { href, parameters } from "../../state/address.ts";
import { Explorer } from "./explorer.tsx";
import { LabelFilter } from "./label-filter.tsx";
import { Gallery } from "./gallery.tsx";
import { queries } from "./metrics-address.ts";

export function MetricsView() {
  const kept = Object.fromEntries(
    ["from", "to", "live", "project"].map((name) => [name, parameters.value.get(name) ?? undefined]),
  );
  const explores = queries.value !== undefined;
  const tabs = [
    { id: "gallery", title: "Gallery", address: href("metrics", kept) },
    { id: "explore", title: "Explore with PromQL", address: href("metrics", { ...kept, query: "" }) },
  ];
  return (
    <div class="view">
      <ViewHeader title="Metrics" time>
        <LabelFilter parameter="project" label="project_name" name="Project" all="All projects" />
      </ViewHeader>
      <Tabs tabs={tabs} current={explores ? "explore" : "gallery"} label="Metrics" />
      {explores ? <Explorer /> : <Gallery />}
    </div>
  );
}
