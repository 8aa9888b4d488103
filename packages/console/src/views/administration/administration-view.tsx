/** The view "Administration": organizations, projects, people, keys, budgets and deletions, as lists and one by one, and the audit log. */
import { Notice } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { href, viewPath } from "../../state/address.ts";
import { may } from "../../state/session.ts";
import { BudgetList } from "./budget-list.tsx";
import { BudgetPage } from "./budget-page.tsx";
import { AuditList } from "./audit-list.tsx";
import { DeletionList } from "./deletion-list.tsx";
import { DeletionPage } from "./deletion-page.tsx";
import { KeyList } from "./key-list.tsx";
import { KeyPage } from "./key-page.tsx";
import { OrganizationList } from "./organization-list.tsx";
import { OrganizationPage } from "./organization-page.tsx";
import { PeopleList } from "./people-list.tsx";
import { PersonPage } from "./person-page.tsx";
import { ProjectList } from "./project-list.tsx";
import { ProjectPage } from "./project-page.tsx";

const kinds = [
  { id: "organizations", title: "Organizations", List: OrganizationList, Page: OrganizationPage },
  { id: "projects", title: "Projects", List: ProjectList, Page: ProjectPage },
  { id: "people", title: "People", List: PeopleList, Page: PersonPage },
  { id: "keys", title: "Keys", List: KeyList, Page: KeyPage },
  { id: "budgets", title: "Budgets", List: BudgetList, Page: BudgetPage },
  { id: "deletions", title: "Deletions", List: DeletionList, Page: DeletionPage },
  { id: "audit", title: "Audit log", List: AuditList, Page: undefined },
] as const;

const tabs = kinds.map(({ id, title }) => ({ id, title, address: href(`administration/${id}`) }));

export function AdministrationView() {
  const [kindId = "", objectId] = viewPath.value.split("/");
  const { id, List, Page } = kinds.find((kind) => kind.id === kindId) ?? kinds[0];
  if (Page !== undefined && objectId !== undefined && objectId !== "")
    return (
      <div class="view">
        <Page key={objectId} id={objectId} />
      </div>
    );
  return (
    <div class="view">
      <ViewHeader title="Administration" />
      <Tabs tabs={tabs} current={id} label="Administration" />
      {!may("admin") && (
        <Notice>
          You may look at the configuration. To change it, you need the permission <code>admin</code>.
        </Notice>
      )}
      <List key={id} />
    </div>
  );
}
