/** The view "Conversations": the list, or one conversation. */
import { viewPath } from "../../state/address.ts";
import { ConversationListView } from "./conversation-list-view.tsx";
import { ConversationView } from "./conversation-view.tsx";

export function ConversationsView() {
  if (viewPath.value !== "") return <ConversationView key={viewPath.value} id={viewPath.value} />;
  return <ConversationListView />;
}
