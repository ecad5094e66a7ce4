// The frame around the views: navigation, the view that the address names, notices.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { address } from "../lib/address";
import { greet } from "../lib/hello";
import { returns } from "../lib/server";
import { announce } from "../ui/toast";
import { Toasts } from "../ui/Toasts";
import { Header } from "./Header";
import { KeysDialog, useKeys } from "./Keys";
import { Notice } from "./Notice";
import { ShownText } from "./ShownText";
import { Stage } from "./Stage";
import { Tour, useTour } from "./Tour";
import { VIEWS } from "./views";

export function App() {
  const at = address.value;
  const main = useRef<HTMLElement>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const openHelp = useCallback(() => setHelpOpen(true), []);
  const tour = useTour();
  useKeys({ onHelp: openHelp });
  useTitle(at.view);
  usePrefetch();
  const back = returns.value;
  useEffect(() => {
    // A failure shows in the notice.
    greet().catch(() => undefined);
  }, [back]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The part after # is the address of the view: move the focus only.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the view
      </a>
      <Header view={at.view} onHelp={openHelp} onTour={tour.start} isNew={!tour.isSeen} />
      <Notice />
      <main class="frame-main" id="main" ref={main} tabIndex={-1}>
        <Stage at={at} />
      </main>
      <Toasts />
      <ShownText />
      <KeysDialog open={isHelpOpen} onClose={() => setHelpOpen(false)} />
      <Tour {...tour} />
    </>
  );
}

function useTitle(view: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    const found = VIEWS[view];
    document.title = found === undefined ? "bentpipe explorer" : `${found.title}: ${found.about} – bentpipe`;
    if (!isFirst.current) {
      scrollTo(0, 0);
      announce(`${found?.title ?? "No"} view`);
    }
    isFirst.current = false;
  }, [view]);
}

/** Loads the other views when nothing else is to do, so that each opens at once. */
function usePrefetch(): void {
  useEffect(() => {
    const load = () => {
      for (const view of Object.values(VIEWS)) view.load().catch(() => undefined);
    };
    const timer = setTimeout(() => ("requestIdleCallback" in window ? requestIdleCallback(load) : load()), 2500);
    return () => clearTimeout(timer);
  }, []);
}
