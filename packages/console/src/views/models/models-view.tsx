/** The view "Models": the list, or one model. */
import { viewPath } from "../../state/address.ts";
import { ModelList } from "./model-list.tsx";
import { ModelPage } from "./model-page.tsx";

export function ModelsView() {
  const id = viewPath.value;
  return id === "" ? <ModelList /> : <ModelPage key={id} id={id} />;
}
