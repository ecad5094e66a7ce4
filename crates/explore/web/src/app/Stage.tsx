// The view that the address names: loaded when it is first opened, and kept from taking the
// page with it when it fails.
import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Address } from "../lib/address";
import { returns } from "../lib/server";
import { shareable } from "../lib/share";
import { Empty, Failed, Loading } from "../ui/State";
import { VIEWS, type ViewProps } from "./views";

/** How long a view may take before the page says that it loads. */
const PATIENCE_MS = 200;

export function Stage({ at }: { at: Address }) {
  const { view, params } = at;
  const [loaded, setLoaded] = useState<{ view: string; Component: ComponentType<ViewProps> }>();
  const [failure, setFailure] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    setFailure(undefined);
    setSlow(false);
    const timer = setTimeout(() => setSlow(true), PATIENCE_MS);
    VIEWS[view]
      ?.load()
      .then((module) => {
        if (isCurrent) setLoaded({ view, Component: module.default });
      })
      .catch((error: unknown) => {
        if (isCurrent) setFailure(error);
      });
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      shareable.value = undefined;
    };
  }, [view, attempt]);
  if (VIEWS[view] === undefined) {
    return (
      <Empty title={`There is no view “${view}”`}>
        The views are{" "}
        {Object.values(VIEWS)
          .map((one) => one.title)
          .join(", ")}
        : choose one above.
      </Empty>
    );
  }
  if (failure !== undefined) return <Failed error={failure} onRetry={() => setAttempt(attempt + 1)} />;
  if (loaded?.view !== view) return isSlow ? <Loading /> : null;
  // After the server has returned, a view starts over and asks again, with the state that is
  // in the address.
  const times = VIEWS[view].keepsWork === true ? 0 : returns.value;
  return (
    <Boundary key={`${view} ${attempt} ${times}`} onRetry={() => setAttempt(attempt + 1)}>
      <loaded.Component params={params} />
    </Boundary>
  );
}

/** Shows what a view threw while it was drawn, instead of an empty page. */
class Boundary extends Component<{ children: ComponentChildren; onRetry: () => void }, { error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <Failed error={this.state.error} onRetry={this.props.onRetry} />;
  }
}
