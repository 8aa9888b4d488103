/** A view, or a part of one, whose script is loaded when it is opened for the first time. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ErrorState, Loading } from "../design/states.tsx";

/** @param props what the loaded component gets */
export function LoadedView<Props extends object>({
  title,
  load,
  props,
}: {
  readonly title: string;
  readonly load: () => Promise<ComponentType<Props>>;
  readonly props: Props;
}) {
  const component = useSignal<{ readonly View: ComponentType<Props> } | undefined>(undefined);
  const error = useSignal<Error | undefined>(undefined);
  const shown = useRef(true);
  useEffect(() => {
    shown.current = true;
    load().then(
      (View) => shown.current && (component.value = { View }),
      () =>
        shown.current &&
        (error.value = new Error("The view could not be loaded. If the server was updated, reload the page.")),
    );
    return () => void (shown.current = false);
  }, [load]);
  if (error.value !== undefined) return <ErrorState error={error.value} onRetry={() => location.reload()} />;
  if (component.value === undefined) return <Loading what={title} />;
  const { View } = component.value;
  return <View {...props} />;
}
