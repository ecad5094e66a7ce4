// The frame around the views: navigation, and the view that the address names.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { address, href, type Params } from "../lib/address";

export interface ViewProps {
  readonly params: Params;
}

/** The views, each loaded when it is first opened. */
const VIEWS: Record<string, { title: string; load: () => Promise<{ default: ComponentType<ViewProps> }> }> = {
  link: { title: "Link", load: () => import("../views/link/Link") },
  scenario: { title: "Scenario", load: () => import("../views/scenario/Scenario") },
  sky: { title: "Sky", load: () => import("../views/sky/Sky") },
  studies: { title: "Studies", load: () => import("../views/studies/Studies") },
  papers: { title: "Papers", load: () => import("../views/papers/Papers") },
};

export function App() {
  const { view, params } = address.value;
  const found = VIEWS[view];
  const [shown, show] = useState<{ view: string; Component: ComponentType<ViewProps> }>();
  useEffect(() => {
    let isCurrent = true;
    void found?.load().then((module) => {
      if (isCurrent) show({ view, Component: module.default });
    });
    return () => {
      isCurrent = false;
    };
  }, [view]);
  return (
    <>
      <header>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(([name, { title }]) => (
            <a key={name} href={href(name)} aria-current={name === view ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <main>
        {found === undefined ? <p>There is no view “{view}”.</p> : shown?.view === view && <shown.Component params={params} />}
      </main>
    </>
  );
}
