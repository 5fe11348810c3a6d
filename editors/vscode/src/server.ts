// The life cycle of the server: started with the first spec, restarted on demand, with its state in the language status.

import * as vscode from 'vscode';
import { DidChangeConfigurationNotification, ExecuteCommandRequest, LanguageClient, RevealOutputChannelOn, State, type StaticFeature } from 'vscode-languageclient/node';
import { named, selector } from './files';
import { runWith } from './models';
import { findProgram, type Program } from './program';
import { asCommand, linkCommands } from './reference';
import { Tests, type Link, type TestFile } from './tests';
import { isPage, type Page, type Transcripts } from './transcript';
import { requestTrust } from './trust';

export class Server implements vscode.Disposable, Link {
  private client: LanguageClient | undefined;
  private readonly status = vscode.languages.createLanguageStatusItem('speclens.server', named);
  private readonly view = new Tests(this);
  /** Starts and stops follow one another: a restart during a start waits for it. */
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly transcripts: Transcripts,
  ) {
    this.status.name = 'speclens server';
    this.status.command = { title: 'Restart', command: 'speclens.restartServer' };
    this.show('not started');
  }

  start(): Promise<void> {
    return this.enqueue(async () => {
      if (!this.client) await this.launch();
    });
  }

  restart(): Promise<void> {
    return this.enqueue(async () => {
      await this.halt();
      await this.launch();
    });
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.halt());
  }

  /** Notifies the server that the workspace became trusted. A server that starts later learns it at its start. */
  async trust(): Promise<void> {
    if (this.client?.isRunning()) await this.client.sendNotification('speclens/trust', { trusted: true });
  }

  /** The tests of a document, or of all files of the workspace; none while the server does not run. */
  async tests(uri?: string): Promise<TestFile[]> {
    if (!this.client?.isRunning()) return [];
    const { files } = await this.client.sendRequest<{ files: TestFile[] }>('speclens/tests', { uri });
    // The server may escape other characters than VS Code does.
    return files.map((file) => ({ ...file, uri: vscode.Uri.parse(file.uri).toString() }));
  }

  /** Shows the status for a spec whose name does not tell that it is one, such as a file of tasks. */
  showStatusFor({ uri }: vscode.TextDocument): void {
    const pattern = new vscode.RelativePattern(vscode.Uri.joinPath(uri, '..'), uri.path.slice(uri.path.lastIndexOf('/') + 1));
    this.status.selector = [...named, uri.scheme === 'file' ? { scheme: 'file', language: 'yaml', pattern } : { scheme: uri.scheme, language: 'yaml' }];
  }

  dispose(): void {
    this.view.dispose();
    this.status.dispose();
  }

  private enqueue(step: () => Promise<void>): Promise<void> {
    return (this.queue = this.queue.then(step));
  }

  private async launch(): Promise<void> {
    this.show('starting', { busy: true });
    let program: Program;
    try {
      program = await findProgram(this.context);
    } catch (error) {
      return this.fail(error);
    }
    this.log.info(`starting ${program.path} ${program.version} (${program.source})`);
    const client = this.createClient(program);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) this.show('running', { program });
      if (newState === State.Starting) this.show('starting', { program, busy: true });
      if (newState === State.Stopped) this.view.ended();
      if (newState === State.Stopped) this.show('stopped', { program, severity: vscode.LanguageStatusSeverity.Warning });
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      this.fail(error);
    }
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose(2000);
    } catch (error) {
      // It crashed, or does not answer: the new one does not depend on it.
      this.log.warn(`the server did not shut down properly: ${error}`);
    }
  }

  private createClient(program: Program): LanguageClient {
    const askPage = (command: Page, test: object) => client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [test] });
    const client: LanguageClient = new LanguageClient(
      'speclens', // also the section of `speclens.trace.server`
      'speclens',
      { command: program.path, args: ['lsp'] },
      {
        documentSelector: selector,
        // A function: a restart asks again.
        initializationOptions: () => ({ trusted: vscode.workspace.isTrusted, trustIsClients: true, settings: displaySettings() }),
        // The reference is a file of Markdown: links to it, in hovers and from the codes of problems, open its rendered pages.
        uriConverters: { code2Protocol: (uri) => uri.toString(), protocol2Code: (text) => asCommand(text) ?? vscode.Uri.parse(text) },
        markdown: { isTrusted: { enabledCommands: ['speclens.openReference'] } },
        synchronize: { configurationSection: 'speclens' },
        outputChannel: this.log,
        revealOutputChannelOn: RevealOutputChannelOn.Never, // the status item and messages tell; the log is for looking up
        middleware: {
          workspace: {
            configuration: async (params, token, next) => {
              const values = await next(params, token);
              if (!Array.isArray(values)) return values;
              return values.map((value, i) => (params.items[i]?.section === 'speclens' ? displaySettings() : value));
            },
            didChangeConfiguration: async () => {
              await this.client?.sendNotification(DidChangeConfigurationNotification.type, { settings: { speclens: displaySettings() } });
            },
          },
          provideHover: async (document, position, token, next) => linkCommands(await next(document, position, token)),
          // The server publishes every change by a run or an edit: open transcripts are requested again then.
          handleDiagnostics: (uri, diagnostics, next) => {
            next(uri, diagnostics);
            void this.transcripts.refresh(client.code2ProtocolConverter.asUri(uri), askPage).catch((error) => this.log.warn(String(error)));
          },
          // The server's own commands, from lenses, code actions and the palette's wrappers, all pass here.
          executeCommand: async (command, arguments_, next) => {
            let answer: unknown;
            try {
              answer = await next(command, arguments_);
            } catch (error) {
              // VS Code would show the reason without naming its source.
              void vscode.window.showErrorMessage(`speclens: ${error instanceof Error ? error.message : error}`);
              return undefined;
            }
            if (isPage(command)) await this.transcripts.show(command, arguments_, answer, askPage);
            if (command === 'speclens.runWith') void runWith(arguments_[0], answer);
            if ((answer as { reason?: string } | undefined)?.reason === 'untrusted') await requestTrust();
            return answer;
          },
        },
      },
    );
    client.registerFeature(ownCommands);
    client.onNotification('speclens/runOutput', ({ run, text }: { run: number; text: string }) => this.view.output(run, text));
    client.onNotification('speclens/testsChanged', ({ uri }: { uri?: string }) => this.view.changed(uri && vscode.Uri.parse(uri).toString()));
    return client;
  }

  private show(state: string, { program, busy = false, severity = vscode.LanguageStatusSeverity.Information }: Partial<Shown> = {}): void {
    this.status.text = program ? `speclens ${program.version}` : 'speclens';
    this.status.detail = program ? `${state}, ${program.source}` : state;
    this.status.busy = busy;
    this.status.severity = severity;
  }

  private fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.log.error(message);
    this.show(`failed: ${message}`, { severity: vscode.LanguageStatusSeverity.Error });
    // Not awaited: the next start must not wait for someone to close the message.
    void vscode.window.showErrorMessage(`speclens: ${message}`, 'Show Log', 'Open Settings').then((choice) => {
      if (choice === 'Show Log') this.log.show();
      if (choice === 'Open Settings') void vscode.commands.executeCommand('workbench.action.openSettings', 'speclens.server.path');
    });
  }
}

/** Tells the server that a chosen `key: ` may ask for the list of its values, and that tests and transcripts are shown and models chosen here. */
const ownCommands: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    const experimental = capabilities.experimental as object | undefined;
    capabilities.experimental = { ...experimental, testItems: true, commands: { commands: ['editor.action.triggerSuggest', 'speclens.showTranscript', 'speclens.dryRun', 'speclens.preconditions', 'speclens.runWith'] } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

interface Shown {
  program: Program;
  busy: boolean;
  severity: vscode.LanguageStatusSeverity;
}

/** The settings for the server: all but the client's own. Unknown ones are included, so that the server reports them. */
function displaySettings(): object {
  const { server: _server, trace: _trace, ...display } = vscode.workspace.getConfiguration().get<Record<string, unknown>>('speclens', {});
  return display;
}
