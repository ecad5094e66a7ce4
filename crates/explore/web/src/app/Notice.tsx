// What the page says while its server is not there.
import { hello } from "../lib/hello";
import { look, server } from "../lib/server";
import { Button } from "../ui/Button";
import { Copy } from "../ui/Copy";

export function Notice() {
  const state = server.value;
  if (state === "there") return null;
  const command = hello.value?.command ?? `bentpipe explore --port ${location.port}`;
  return (
    <div class="frame-notice" role="alert">
      {state === "gone" ? (
        <>
          <strong>The server has ended.</strong>
          <span>
            Start it again: <code>{command}</code>
          </span>
          <Copy text={command} what="the command" />
          <span class="muted">The page continues by itself once the server is back.</span>
        </>
      ) : (
        <>
          <strong>The server has a new token.</strong>
          <span>Open the address that it printed when it was started.</span>
        </>
      )}
      <Button size="small" icon="reset" onClick={() => void look()}>
        Try now
      </Button>
    </div>
  );
}
