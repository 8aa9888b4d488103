/** The view "Administration". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function AdministrationView() {
  return (
    <div class="view">
      <ViewHeader title="Administration" />
    </div>
  );
}
