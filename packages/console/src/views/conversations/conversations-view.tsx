/** The view "Conversations". */
import { ViewHeader } from "../../shell/view-header.tsx";

export function ConversationsView() {
  return (
    <div class="view">
      <ViewHeader title="Conversations" time />
    </div>
  );
}
