import { TopBar } from "../app/PageFrame";
import { navigate, paths } from "../app/router";
import { Button } from "../parts";

/** In place of a conversation that the server does not have. */
export function Missing() {
  return (
    <main className="main">
      <TopBar>
        <span className="name cut">No chat</span>
      </TopBar>
      <div className="scroll">
        <div className="hello" role="alert">
          <div>
            <h1>Chat not found</h1>
            <p className="lead">It was deleted, or the address is wrong. Your other chats are in the list.</p>
          </div>
          <div>
            <Button onClick={() => navigate(paths.home)}>New chat</Button>
          </div>
        </div>
      </div>
    </main>
  );
}
