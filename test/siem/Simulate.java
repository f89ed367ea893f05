import java.nio.file.Files;
import java.nio.file.Path;
import org.codelibs.elasticsearch.runner.ElasticsearchClusterRunner;
import org.elasticsearch.action.ingest.SimulatePipelineRequest;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.xcontent.ToXContent;
import org.elasticsearch.common.xcontent.XContentFactory;
import org.elasticsearch.common.xcontent.XContentType;

/** Starts Elasticsearch in DIRECTORY, and does what `POST _ingest/pipeline/_simulate` with the body in REQUEST does. Writes the reply to REPLY. */
public class Simulate {
    public static void main(String[] args) throws Exception {
        var request = Path.of(args[0]);
        var reply = Path.of(args[1]);
        var directory = args[2];
        var runner = new ElasticsearchClusterRunner();
        runner.build(ElasticsearchClusterRunner.newConfigs().numOfNode(1).basePath(directory).useLogger());
        var body = new BytesArray(Files.readAllBytes(request));
        var simulated =
            runner.client().admin().cluster().simulatePipeline(new SimulatePipelineRequest(body, XContentType.JSON)).actionGet();
        try (var out = Files.newOutputStream(reply); var json = XContentFactory.jsonBuilder(out)) {
            simulated.toXContent(json, ToXContent.EMPTY_PARAMS);
        }
        runner.close();
        System.exit(0);
    }
}
